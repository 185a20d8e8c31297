// What the console asks of the gateway. Signing in gives a cookie that scripts cannot read, and a token against forged requests.

import { sign } from './signature.js';

const sessionPath = '/v1/console/session';
/** Of one list, shown at once. */
const maximumItems = 1_000;
const maximumAttempts = 5;
let csrfToken = null;
let region = 'us-east-1';

/** A refusal in the gateway's own words. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function call(method, path, { body, headers = {} } = {}) {
  if (csrfToken) headers['X-Stagedoor-CSRF'] = csrfToken;
  if (body) headers['Content-Type'] = 'application/json';
  const response = await fetch(path, {
    method, headers, body: body && JSON.stringify(body), credentials: 'same-origin', cache: 'no-store',
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  let answer = {};
  try { answer = text ? JSON.parse(text) : {}; } catch { answer = { detail: text }; }
  if (!response.ok) {
    throw new Refused(response.status, answer.exceptionMessage ?? answer.message ?? answer.detail ?? `HTTP ${response.status}`);
  }
  return answer;
}

/** Who is signed in, and whether anybody has to be. */
export async function session() {
  const answer = await call('GET', sessionPath);
  region = answer.region;
  csrfToken = answer.csrfToken ?? null;
  return answer;
}

export async function signIn(accessKeyId, secretAccessKey) {
  const headers = await sign({ method: 'POST', path: sessionPath, accessKeyId, secretAccessKey, region });
  const answer = await call('POST', sessionPath, { headers });
  csrfToken = answer.csrfToken;
  return answer;
}

export async function signOut() {
  await call('DELETE', sessionPath);
  csrfToken = null;
}

export const overview = () => call('GET', '/v1/overview');
export const publishSession = id => call('GET', `/v1/sessions/${encodeURIComponent(id)}`);
export const beginDrain = () => call('POST', '/v1/drain');
export const cancelDrain = () => call('DELETE', '/v1/drain');
/** Of a participant of two encoders. */
export const switchSource = (id, encoder) => call('POST', `/v1/participants/${encodeURIComponent(id)}/source`, { body: { encoder } });
/**
 * The settings that OBS takes whole, key and all.
 * @param encoder 1 or 2 where the ingest configuration is of two encoders.
 */
export const obsConfiguration = (id, encoder) =>
  call('GET', `/v1/ingestConfigurations/${id}/obs${encoder ? `?encoder=${encoder}` : ''}`);

/** An operation of the control API, as the AWS CLI calls it; what is empty is left out. */
export function operation(name, input) {
  const isSaid = value => value !== undefined && value !== null;
  return call('POST', `/${name}`, { body: Object.fromEntries(Object.entries(input).filter(([, value]) => isSaid(value))) });
}

/** An operation that only asks. Where more are asked than the quota lets through in a second, it is answered in one of the next. */
export async function question(name, input) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await operation(name, input);
    } catch (error) {
      if (error.status !== 429 || attempt === maximumAttempts) throw error;
      await new Promise(resolve => setTimeout(resolve, 1_000));
    }
  }
}

/** Every item of a list, which comes in pages. */
export async function list(name, member, input = {}) {
  const items = [];
  let nextToken;
  do {
    const answer = await question(name, { ...input, maxResults: 100, nextToken });
    items.push(...answer[member]);
    nextToken = answer.nextToken;
  } while (nextToken && items.length < maximumItems);
  return items;
}

// Stream keys and public keys as the API lists them: without their secrets, asked for now and then and after each change.

import { list } from './api.js';

const maximumAge = 10_000;
const kept = { configurations: [], publicKeys: [] };
let askedAt = -Infinity;

/** What is known of them; asks when that is old. */
export async function inventory() {
  if (performance.now() - askedAt < maximumAge) return kept;
  askedAt = performance.now();
  [kept.configurations, kept.publicKeys] = await Promise.all([
    list('ListIngestConfigurations', 'ingestConfigurations'), list('ListPublicKeys', 'publicKeys'),
  ]);
  return kept;
}

/** Something was changed: the next one to ask gets news. */
export function forget() {
  askedAt = -Infinity;
}

// Stream keys, public keys and storage configurations as the API lists them: without their secrets, asked for now and then and after each change.

import { list } from './api.js';
import { may } from './rights.js';

const maximumAge = 10_000;
const kept = { configurations: [], publicKeys: [], storages: [] };
let askedAt = -Infinity;
let questions = 0;

/** What is known of them; asks when that is old. */
export async function inventory() {
  if (performance.now() - askedAt < maximumAge) return kept;
  askedAt = performance.now();
  const question = ++questions;
  const [configurations, publicKeys, storages] = await Promise.all([
    listed('ListIngestConfigurations', 'ingestConfigurations'), listed('ListPublicKeys', 'publicKeys'),
    listed('ListStorageConfigurations', 'storageConfigurations'),
  ]).catch(error => {
    // What is kept is no answer: the next one to ask asks again.
    forget();
    throw error;
  });
  // A slow answer does not take the place of a newer one.
  return question === questions ? Object.assign(kept, { configurations, publicKeys, storages }) : kept;
}

const listed = async (name, member) => may(`ivs:${name}`) ? list(name, member) : [];

/** Something was changed: the next one to ask gets news. */
export function forget() {
  askedAt = -Infinity;
}

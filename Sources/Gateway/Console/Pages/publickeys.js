// Public keys: tokens that somebody else signs with the private one are taken as well.

import { operation } from './api.js';
import { ask } from './dialogs.js';
import { $, keyed, make } from './dom.js';

export function showPublicKeys(keys) {
  $('public-keys-empty').hidden = keys.length > 0;
  keyed($('public-keys'), keys, key => key.arn, makeKey);
}

const nameOf = key => key.name || key.arn.split('/')[1];

function makeKey(key) {
  const remove = make('button', {
    type: 'button', class: 'quiet cut', 'data-rights': 'ivs:DeletePublicKey', 'aria-label': `Delete public key ${nameOf(key)}`,
    onclick: () => deleteKey(key),
  }, 'Delete');
  return make('li', {}, make('div', { class: 'head' }, make('b', {}, nameOf(key)), make('span', { class: 'actions' }, remove)),
    make('small', { class: 'mono' }, key.arn));
}

export const importKey = () => ask({
  title: 'Import a public key', verb: 'Import', done: 'Tokens signed with its private key are taken from now on.',
  text: 'Of a pair on the curve P-384, made for instance by: openssl ecparam -name secp384r1 -genkey -noout -out private.pem; openssl ec -in private.pem -pubout',
  fields: [
    { name: 'name', label: 'Name' },
    { name: 'publicKeyMaterial', label: 'Public key (PEM)', kind: 'area', hint: 'From BEGIN PUBLIC KEY to END PUBLIC KEY. Never paste the private key.' },
  ],
}, values => operation('ImportPublicKey', values));

const deleteKey = key => ask({
  title: `Delete ${nameOf(key)}?`, verb: 'Delete', isDangerous: true, done: 'The public key is deleted.',
  text: 'Whoever publishes or watches with a token of this pair is cut off, and its tokens are refused.',
}, () => operation('DeletePublicKey', { arn: key.arn }));

// A dialog of things to copy: cards that open, each with fields, a link, a QR code. It leaves the page when it closes.

import { showDialog } from './dialogs.js';
import { make } from './dom.js';
import { encode, maximumLength } from './qr.js';

let count = 0;

/** @param cards `{ title, hint, fields: [{ label, value, isLong }], link: { words, url }, code: { label, text }, load }` */
export function showSheet({ title, text, cards }) {
  const status = make('p', { role: 'status', class: 'muted copied' });
  const close = make('button', { type: 'button', class: 'primary', onclick: () => dialog.close() }, 'Done');
  const content = make('div', { class: 'sheet' }, make('p', { class: 'muted' }, text),
    ...cards.map((card, index) => makeCard(card, index === 0, status)), make('div', { class: 'actions' }, status, close));
  const dialog = showDialog(title, content, { class: 'wide' });
}

function makeCard(card, isOpen, status) {
  const body = make('div', { class: 'body' }, ...parts(card, status));
  const element = make('details', { class: 'card', ...(isOpen ? { open: '' } : {}) }, make('summary', {}, card.title), body);
  let isAsked = false;
  if (card.load) element.addEventListener('toggle', async () => {
    if (!element.open || isAsked) return;
    isAsked = true;
    isAsked = await load(card, body, status);
  });
  return element;
}

function* parts(card, status) {
  if (card.hint) yield make('p', { class: 'hint' }, card.hint);
  for (const field of card.fields ?? []) yield makeField(field, card.title, status);
  if (card.link) yield make('p', {}, make('a', { href: card.link.url, target: '_blank', rel: 'noopener noreferrer' }, card.link.words));
  if (card.code) yield* makeCode(card.code);
}

/** What has to be asked for is asked for when its card is opened; whether it was answered. */
async function load(card, body, status) {
  body.querySelector('.fault')?.remove();
  const fault = make('p', { class: 'fault', role: 'alert' });
  body.append(fault);
  try {
    body.append(makeField({ ...card.load, value: await card.load.ask(), isLong: true }, card.title, status));
    return true;
  } catch (error) {
    fault.textContent = error.message;
    return false;
  }
}

function makeField({ label, value, isLong = false }, title, status) {
  const id = `copy-${++count}`;
  const control = isLong ? make('textarea', { id, readonly: '', rows: '4', spellcheck: 'false', class: 'mono' })
    : make('input', { id, readonly: '', spellcheck: 'false', class: 'mono' });
  control.value = value;
  const copy = make('button', { type: 'button', 'aria-label': `Copy ${label} (${title})`, onclick: () => copyFrom(control, label, status) }, 'Copy');
  return make('div', { class: 'field' }, make('label', { for: id }, label), control, copy);
}

async function copyFrom(control, label, status) {
  try {
    await navigator.clipboard.writeText(control.value);
    status.textContent = `Copied: ${label}.`;
  } catch {
    control.select();
    status.textContent = 'The browser lets no page copy: what is marked can be copied by hand.';
  }
}

/** Nothing where the text is too long for a code: a token with many attributes is still to be copied. */
function* makeCode({ label, text }) {
  if (new TextEncoder().encode(text).length > maximumLength) return;
  const rows = encode(text), side = rows.length + 8;
  const path = rows.flatMap((row, y) => row.map((isDark, x) => isDark ? `M${x + 4} ${y + 4}h1v1h-1z` : '')).join('');
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const attributes = { viewBox: `0 0 ${side} ${side}`, class: 'qr', role: 'img', 'aria-label': `QR code: ${label}`, 'shape-rendering': 'crispEdges' };
  for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
  const dark = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  dark.setAttribute('d', path);
  svg.append(dark);
  yield svg;
  yield make('p', { class: 'hint' }, label);
}

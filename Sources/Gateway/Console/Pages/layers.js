// The layers of a session: which there are, what each brings, and their bitrates as curves beside each other.

import { keyed, make, put } from './dom.js';
import { History, drawLines, lines } from './sparkline.js';
import { bits } from './units.js';

/** Layers of video that have an alternative: one alone is the session. */
const several = session => session.layers?.length > 1 ? session.layers : [];
const size = layer => `${layer.width}\u2009×\u2009${layer.height}`;

/** Adds a second to the curves of each layer, by its name, and forgets names that nobody has any more. */
export function rememberLayers(histories, session) {
  const layers = several(session);
  for (const name of histories.keys()) if (!layers.some(layer => layer.name === name)) histories.delete(name);
  for (const layer of layers) {
    if (!histories.has(layer.name)) histories.set(layer.name, new History());
    histories.get(layer.name).add(layer.bitsPerSecond);
  }
}

/** A list for one glance. */
export const makeLayerChips = () => make('ul', { class: 'layer-chips', 'aria-label': 'Layers' });

export function showLayerChips(list, session) {
  const layers = several(session);
  list.hidden = layers.length === 0;
  keyed(list, layers, layer => layer.name, layer => make('li', { class: `chip ${layer.name}` }), (chip, layer) => {
    put(chip, `${layer.name} ${Math.min(layer.width, layer.height)}p${layer.active ? '' : ' paused'}`);
    chip.classList.toggle('paused', !layer.active);
  });
}

/** Empty curves, and the table that is their legend. */
export function makeLayers() {
  const heads = ['Layer', 'Encoder\u2019s name', 'Picture', 'Frame rate', 'Bitrate', 'State'];
  const table = make('table', { 'aria-label': 'Layers' },
    make('thead', {}, make('tr', {}, ...heads.map(head => make('th', { scope: 'col' }, head)))), make('tbody'));
  return make('div', { class: 'layers' }, lines('Bitrate of each layer, the last two minutes'), table);
}

export function showLayers(element, session, histories) {
  const layers = several(session);
  element.hidden = layers.length === 0;
  if (element.hidden) return;
  drawLines(element.querySelector('svg'), histories, { ceiling: 500_000 });
  keyed(element.querySelector('tbody'), layers, layer => layer.name, makeLayer, updateLayer);
}

function makeLayer(layer) {
  return make('tr', {}, make('th', { scope: 'row' }, make('span', { class: `swatch ${layer.name}` }), layer.name),
    make('td', { class: 'mono' }), make('td'), make('td'), make('td'), make('td', {}, make('span', { class: 'chip' })));
}

function updateLayer(row, layer) {
  const [, rid, picture, frames, rate] = row.children;
  put(rid, layer.rid || '–');
  put(picture, size(layer));
  put(frames, `${layer.framesPerSecond.toFixed(1)} /s`);
  put(rate, bits(layer.bitsPerSecond));
  const chip = row.querySelector('.chip');
  put(chip, layer.active ? 'active' : 'paused');
  chip.className = `chip ${layer.active ? 'good' : 'warn'}`;
}

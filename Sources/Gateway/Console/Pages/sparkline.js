// Small curves of the last two minutes. Their history lives in the page and goes with it.

const svg = (name, attributes = {}) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

/** Seconds that are kept, and the fewest that a curve is as wide as. */
export const length = 120;
const least = 30;

/** The last values of one measure, oldest first. */
export class History {
  values = [];

  add(value) {
    this.values.push(value);
    if (this.values.length > length) this.values.shift();
  }
}

/** A place of 120 by 30 units, stretched. */
const canvas = label => svg('svg', { class: 'spark', viewBox: `0 0 ${length} 30`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });

/** Where values stand there, the newest at the right; `count` are as wide as it. */
function path(values, top, count) {
  const width = Math.max(count, least) - 1;
  const x = index => (((width + 1 - values.length + index) / width) * length).toFixed(2);
  return { start: x(0), line: values.map((value, index) => `${index ? 'L' : 'M'}${x(index)} ${height(value, top).toFixed(2)}`).join('') };
}

const height = (value, top) => 30 - (value / top) * 29;

/** Room for several curves. */
export function lines(label) {
  const element = canvas(label);
  element.classList.add('several');
  return element;
}

/** Draws a curve for each history by its name, which is its class, on one scale. */
export function drawLines(element, histories, { ceiling = 0 } = {}) {
  const all = [...histories.values()].map(history => history.values);
  const top = Math.max(ceiling, ...all.flat()) * 1.08;
  const count = Math.max(0, ...all.map(values => values.length));
  for (const curve of [...element.children]) if (!histories.has(curve.dataset.name)) curve.remove();
  for (const [name, { values }] of histories) {
    let curve = element.querySelector(`[data-name="${name}"]`);
    if (!curve) element.append(curve = svg('path', { class: `line ${name}`, 'data-name': name }));
    curve.setAttribute('d', path(values, top, count).line);
  }
}

/** A curve. */
export function sparkline(label) {
  const element = canvas(label);
  element.append(svg('path', { class: 'area' }), svg('line', { class: 'limit' }), svg('path', { class: 'line' }));
  return element;
}

/** Draws `history` up to at least `ceiling`, with a dashed line at `limit` once the curve comes near it. */
export function draw(element, history, { ceiling = 0, limit = 0 } = {}) {
  const values = history.values;
  const peak = Math.max(...values, 0);
  const showsLimit = limit > 0 && peak > limit * 0.6;
  const top = Math.max(peak, ceiling, showsLimit ? limit : 0, Number.MIN_VALUE) * 1.08;
  const { start, line } = path(values, top, values.length);
  const [area, dashes, curve] = element.children;
  curve.setAttribute('d', line);
  area.setAttribute('d', values.length ? `${line}L${length} 30L${start} 30Z` : '');
  dashes.toggleAttribute('hidden', !showsLimit);
  for (const [key, value] of Object.entries({ x1: 0, x2: length, y1: height(limit, top), y2: height(limit, top) })) dashes.setAttribute(key, showsLimit ? value : 0);
  element.classList.toggle('hot', limit > 0 && values.at(-1) > limit);
}

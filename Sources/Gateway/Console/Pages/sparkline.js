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

/** A curve over 120 by 30 units, stretched to its place. */
export function sparkline(label) {
  const element = svg('svg', { class: 'spark', viewBox: `0 0 ${length} 30`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  element.append(svg('path', { class: 'area' }), svg('line', { class: 'limit' }), svg('path', { class: 'line' }));
  return element;
}

/** Draws `history` up to at least `ceiling`, with a dashed line at `limit` once the curve comes near it. */
export function draw(element, history, { ceiling = 0, limit = 0 } = {}) {
  const values = history.values;
  const peak = Math.max(...values, 0);
  const showsLimit = limit > 0 && peak > limit * 0.6;
  const top = Math.max(peak, ceiling, showsLimit ? limit : 0, Number.MIN_VALUE) * 1.08;
  const width = Math.max(values.length, least) - 1;
  const x = index => (((width + 1 - values.length + index) / width) * length).toFixed(2);
  const y = value => 30 - (value / top) * 29;
  const line = values.map((value, index) => `${index ? 'L' : 'M'}${x(index)} ${y(value).toFixed(2)}`).join('');
  const [area, dashes, curve] = element.children;
  curve.setAttribute('d', line);
  area.setAttribute('d', values.length ? `${line}L${length} 30L${x(0)} 30Z` : '');
  dashes.toggleAttribute('hidden', !showsLimit);
  for (const [key, value] of Object.entries({ x1: 0, x2: length, y1: y(limit), y2: y(limit) })) dashes.setAttribute(key, showsLimit ? value : 0);
  element.classList.toggle('hot', limit > 0 && values.at(-1) > limit);
}

// The square of a QR code: its patterns, its codewords, and the mask that suits readers best (ISO/IEC 18004 6.3, 7.7 to 7.10).

export const size = version => 17 + 4 * version;

const masks = [
  (x, y) => (x + y) % 2, (_, y) => y % 2, x => x % 3, (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (x, y) => x * y % 2 + x * y % 3,
  (x, y) => (x * y % 2 + x * y % 3) % 2, (x, y) => ((x + y) % 2 + x * y % 3) % 2,
];

/** Where the centres of the alignment patterns lie, along either side (annex E). */
function alignments(version) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = version === 32 ? 26 : Math.ceil((4 * version + 4) / (2 * count - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, index) => size(version) - 7 - step * (count - 2 - index))];
}

/** `value` with the remainder of its division by `divisor` behind it: a BCH code. */
function withRemainder(value, divisor, bits) {
  let rest = value << bits;
  for (let bit = 31 - Math.clz32(rest); bit >= bits; bit--) if (rest >> bit & 1) rest ^= divisor << bit - bits;
  return value << bits | rest;
}

/** Modules that no codeword may take, dark or light; undefined elsewhere. */
function patterns(version) {
  const side = size(version);
  const rows = Array.from({ length: side }, () => new Array(side));
  const ring = (centreX, centreY, radius, isDark) => {
    for (let y = Math.max(0, centreY - radius); y <= Math.min(side - 1, centreY + radius); y++) {
      for (let x = Math.max(0, centreX - radius); x <= Math.min(side - 1, centreX + radius); x++) {
        rows[y][x] = Number(isDark(Math.max(Math.abs(x - centreX), Math.abs(y - centreY))));
      }
    }
  };
  for (let index = 0; index < side; index++) rows[6][index] = rows[index][6] = 1 - index % 2;
  const places = alignments(version), last = side - 7;
  for (const x of places) {
    for (const y of places) {
      if (!(x === 6 && y === 6 || x === 6 && y === last || x === last && y === 6)) ring(x, y, 2, distance => distance !== 1);
    }
  }
  for (const [x, y] of [[3, 3], [side - 4, 3], [3, side - 4]]) ring(x, y, 4, distance => distance !== 2 && distance !== 4);
  if (version >= 7) writeVersion(rows, version);
  writeFormat(rows, 0);
  return rows;
}

function writeVersion(rows, version) {
  const bits = withRemainder(version, 0x1f25, 12), side = rows.length;
  for (let index = 0; index < 18; index++) {
    const [far, near] = [side - 11 + index % 3, Math.floor(index / 3)];
    rows[near][far] = rows[far][near] = bits >> index & 1;
  }
}

/** Level L and the mask, twice (7.9). */
function writeFormat(rows, mask) {
  const bits = withRemainder(0b01 << 3 | mask, 0x537, 10) ^ 0x5412, side = rows.length;
  for (let index = 0; index < 15; index++) {
    const bit = bits >> index & 1;
    if (index < 8) rows[index < 6 ? index : index + 1][8] = rows[8][side - 1 - index] = bit;
    else rows[8][index === 8 ? 7 : 14 - index] = rows[side - 15 + index][8] = bit;
  }
  rows[side - 8][8] = 1;
}

/** The free modules in the order of the codewords' bits: up and down in columns of two, from the right (7.7.3). */
function* freeModules(fixed) {
  const side = fixed.length;
  for (let right = side - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right = 5;
    for (let step = 0; step < side; step++) {
      const y = isUp ? side - 1 - step : step;
      for (const x of [right, right - 1]) if (fixed[y][x] === undefined) yield [x, y];
    }
  }
}

const lineFault = /1011101(?=0000)|(?<=0000)1011101/g;

/** How badly a reader would fare (7.8.3). */
function penalty(rows) {
  const side = rows.length;
  const lines = [...rows, ...rows.map((_, x) => rows.map(row => row[x]))].map(line => line.join(''));
  let sum = 0, dark = 0;
  for (const line of lines) {
    for (const run of line.match(/0{5,}|1{5,}/g) ?? []) sum += run.length - 2;
    sum += 40 * (line.match(lineFault) ?? []).length;
  }
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      dark += rows[y][x];
      const four = y && x ? rows[y][x] + rows[y - 1][x] + rows[y][x - 1] + rows[y - 1][x - 1] : 1;
      if (four % 4 === 0) sum += 3;
    }
  }
  return sum + 10 * Math.floor(Math.abs(20 * dark / side ** 2 - 10));
}

/** Draws the codewords under each mask, and answers with the best. */
export function draw(codewords, version) {
  const fixed = patterns(version);
  const modules = [...freeModules(fixed)];
  const drawn = masks.map((mask, number) => {
    const rows = fixed.map(row => row.slice());
    modules.forEach(([x, y], index) => {
      rows[y][x] = ((codewords[index >> 3] ?? 0) >> 7 - (index & 7) & 1) ^ Number(mask(x, y) === 0);
    });
    writeFormat(rows, number);
    return { rows, penalty: penalty(rows) };
  });
  return drawn.reduce((best, next) => next.penalty < best.penalty ? next : best).rows;
}

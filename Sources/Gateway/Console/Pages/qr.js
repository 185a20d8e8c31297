// QR codes (ISO/IEC 18004) of texts in byte mode at error correction level L: up to 2,953 bytes, which a token needs.

import { draw, size } from './qrmatrix.js';
import { correction } from './reedsolomon.js';

export const maximumLength = 2953;

// Of the versions 1 to 40 at level L (table 9).
const correctionLengths = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28,
  28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30];
const blockCounts = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8,
  8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25];

/** Codewords of a version, data and correction together: what the patterns leave of the square. */
function codewordCount(version) {
  const alignments = version > 1 ? Math.floor(version / 7) + 2 : 0;
  // Of their places three are the finders', and those in line with the timing patterns share five modules with them.
  const aligned = alignments ? 25 * (alignments ** 2 - 3) - 10 * (alignments - 2) : 0;
  const modules = size(version) ** 2 - 3 * 64 - 2 * (size(version) - 16) - 31 - aligned - (version >= 7 ? 36 : 0);
  return Math.floor(modules / 8);
}

const dataCount = version => codewordCount(version) - correctionLengths[version - 1] * blockCounts[version - 1];
const lengthBits = version => version < 10 ? 8 : 16;

function smallestVersion(length) {
  for (let version = 1; version <= 40; version++) if (4 + lengthBits(version) + 8 * length <= 8 * dataCount(version)) return version;
  throw new RangeError(`A QR code holds at most ${maximumLength} bytes.`);
}

/** Mode, length, bytes and padding (7.4). */
function dataCodewords(bytes, version) {
  const bits = [];
  const append = (value, count) => { for (let bit = count - 1; bit >= 0; bit--) bits.push(value >> bit & 1); };
  append(0b0100, 4);
  append(bytes.length, lengthBits(version));
  for (const byte of bytes) append(byte, 8);
  append(0, Math.min(4, 8 * dataCount(version) - bits.length));
  const codewords = new Uint8Array(dataCount(version));
  bits.forEach((bit, index) => { codewords[index >> 3] |= bit << 7 - (index & 7); });
  for (let index = Math.ceil(bits.length / 8), pad = 0xec; index < codewords.length; index++, pad ^= 0xfd) codewords[index] = pad;
  return codewords;
}

/** Blocks with their correction, interleaved (7.6): the later ones are longer by one where it does not come out even. */
function interleave(data, version) {
  const count = blockCounts[version - 1];
  const [short, longCount] = [Math.floor(data.length / count), data.length % count];
  const blocks = Array.from({ length: count }, (_, index) => {
    const begin = index * short + Math.max(0, index - (count - longCount));
    return data.slice(begin, begin + short + (index >= count - longCount ? 1 : 0));
  });
  const corrections = blocks.map(block => correction(block, correctionLengths[version - 1]));
  const columns = list => Array.from({ length: Math.max(...list.map(item => item.length)) }, (_, row) =>
    list.filter(item => row < item.length).map(item => item[row])).flat();
  return [...columns(blocks), ...columns(corrections)];
}

/** Rows of modules, 1 being dark, without the quiet zone of 4 modules. */
export function encode(text) {
  const bytes = new TextEncoder().encode(text);
  const version = smallestVersion(bytes.length);
  return draw(interleave(dataCodewords(bytes, version), version), version);
}

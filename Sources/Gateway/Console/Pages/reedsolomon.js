// Reed-Solomon codes over GF(256) as QR codes use them (ISO/IEC 18004 7.5.2), the field made by x^8 + x^4 + x^3 + x^2 + 1.

const exponents = new Uint8Array(510);
const logarithms = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
  exponents[power] = exponents[power + 255] = value;
  logarithms[value] = power;
  value = value << 1 ^ (value & 0x80 ? 0x11d : 0);
}

const product = (left, right) => left && right ? exponents[logarithms[left] + logarithms[right]] : 0;

/** (x - 1)(x - 2)(x - 4)…, highest power first, without the leading 1. */
function generator(count) {
  let polynomial = [1];
  for (let power = 0; power < count; power++) {
    const next = [...polynomial, 0];
    polynomial.forEach((coefficient, index) => { next[index + 1] ^= product(coefficient, exponents[power]); });
    polynomial = next;
  }
  return polynomial.slice(1);
}

/** The `count` codewords that correct `data`: the remainder of its division by the generator. */
export function correction(data, count) {
  const divisor = generator(count);
  const remainder = new Uint8Array(count);
  for (const byte of data) {
    const factor = byte ^ remainder[0];
    remainder.copyWithin(0, 1);
    remainder[count - 1] = 0;
    divisor.forEach((coefficient, index) => { remainder[index] ^= product(coefficient, factor); });
  }
  return remainder;
}

// A subset of w of k values as a number, near the information bound log2 C(k, w), by an arithmetic coder on integers.
//
//     chance = floor(lacking floor(2^52 / left) / 2^20),  inside = floor(width chance / 2^32)
//     in the set: low += width - inside, width = inside;   not in it: width -= inside
//     while width < 2^48: low and width are multiplied by 2^16
//     from low = 0 and width = 2^64 - 1, until no element is lacking or all values left are elements
//
// The set is what is sent, so branches may depend on it.

import { limit } from "../core/check.js";
import { product } from "../randomness/words.js";

/** The most values of a set that is sent. */
export const MOST_VALUES = 2 ** 20;
const CLOSE = 1e-3; // logarithms nearer to a whole number do not decide how many bits it has

/** The code of a set, a byte per value, as a number of `bits` bits. */
export function subsetCode(set: Uint8Array, size: number, bits: number): bigint {
  const digits: number[] = []; // of 16 bits, above the 64 of `low`
  let [lowHigh, lowLow, wideHigh, wideLow] = [0, 0, 2 ** 32 - 1, 2 ** 32 - 1];
  let lacking = size;
  for (let value = 0; lacking > 0 && lacking < set.length - value; value++) {
    const chance = Math.floor((lacking * Math.floor(2 ** 52 / (set.length - value))) / 2 ** 20);
    const [insideHigh, insideLow] = product(wideHigh, wideLow, chance);
    const borrow = +(wideLow < insideLow);
    [wideHigh, wideLow] = [wideHigh - insideHigh - borrow, (wideLow - insideLow) >>> 0];
    if (set[value]) {
      lowLow += wideLow;
      lowHigh += wideHigh + +(lowLow >= 2 ** 32);
      if (lowHigh >= 2 ** 32) for (let i = digits.length - 1; (digits[i] = (digits[i]! + 1) & 0xffff) === 0; i--);
      [lowHigh, lowLow, wideHigh, wideLow] = [lowHigh >>> 0, lowLow >>> 0, insideHigh, insideLow];
      lacking--;
    }
    while (wideHigh < 2 ** 16) {
      digits.push(lowHigh >>> 16);
      lowHigh = ((lowHigh << 16) | (lowLow >>> 16)) >>> 0;
      lowLow = (lowLow << 16) >>> 0;
      wideHigh = ((wideHigh << 16) | (wideLow >>> 16)) >>> 0;
      wideLow = (wideLow << 16) >>> 0;
    }
  }
  digits.push(lowHigh >>> 16, lowHigh & 0xffff, lowLow >>> 16, lowLow & 0xffff);
  const low = BigInt(`0x${digits.map((digit) => digit.toString(16).padStart(4, "0")).join("")}`);
  // rounded up: the least code in the interval
  return -(-low >> BigInt(16 * digits.length - bits));
}

/** Bits per code of a set of w of k values: those of C + floor(C/128), C = C(k, w). */
export function codeBits(k: number, w: number): number {
  limit("values", k, MOST_VALUES);
  const few = Math.min(w, k - w);
  let logarithm = Math.log2(129 / 128);
  for (let i = 0; i < few; i++) logarithm += Math.log2((k - i) / (i + 1));
  if (Math.abs(logarithm - Math.round(logarithm)) > CLOSE) return Math.floor(logarithm) + 1;
  const number = binomial(k, w);
  return (number + number / 128n).toString(2).length;
}

/** C(k, w) as a product of prime powers, whose exponents Legendre's formula gives. */
function binomial(k: number, w: number): bigint {
  const composite = new Uint8Array(k + 1);
  const powers: bigint[] = [];
  for (let prime = 2; prime <= k; prime++) {
    if (composite[prime]) continue;
    for (let multiple = prime * prime; multiple <= k; multiple += prime) composite[multiple] = 1;
    let exponent = 0;
    for (let power = prime; power <= k; power *= prime)
      exponent += Math.floor(k / power) - Math.floor(w / power) - Math.floor((k - w) / power);
    powers.push(BigInt(prime) ** BigInt(exponent));
  }
  return multiplied(powers);
}

/** The product of some numbers, in halves, so that both factors of a product are of a size. */
function multiplied(numbers: readonly bigint[]): bigint {
  const half = numbers.length >> 1;
  return half ? multiplied(numbers.slice(0, half)) * multiplied(numbers.slice(half)) : (numbers[0] ?? 1n);
}

/** A number as `size` bytes, big-endian. */
export function bigEndian(number: bigint, size: number): Uint8Array<ArrayBuffer> {
  const digits = number.toString(16).padStart(2 * size, "0");
  return Uint8Array.from({ length: size }, (_, place) => parseInt(digits.slice(2 * place, 2 * place + 2), 16));
}

// Rigorous bounds by integers alone, digit for digit those of the Python package: e^x from below, and thresholds from
// it.
//
// A number is enclosed between two integers over a power of two, one rounded down and the other up, with as many bits
// as it takes until both give the same answer.

/** M: words are uniform below this. */
export const MODULUS = 1n << 64n;

/** A fraction, not always in lowest terms; its denominator is positive. */
export type Fraction = readonly [numerator: bigint, denominator: bigint];

/** floor(a / b) for b > 0, also where a is negative. */
export function floored(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a < 0n && quotient * b !== a ? quotient - 1n : quotient;
}

/** ceil(a / b) for b > 0. */
export function ceiled(a: bigint, b: bigint): bigint {
  return -floored(-a, b);
}

/** The number of binary digits of a whole number below 2^32. */
export function bitLength(number: number): number {
  return 32 - Math.clz32(number);
}

/** A float as the fraction it is. */
export function exact(value: number): Fraction {
  let denominator = 1n;
  for (; !Number.isInteger(value); value *= 2) denominator *= 2n;
  return [BigInt(value), denominator];
}

/** floor(e^x 2^64): e^x from below, in units of 2^-64. */
export function exponentialBelow(x: number): bigint {
  for (let bits = 256; ; bits *= 2) {
    const [low, high] = exponential(x, BigInt(bits));
    const shift = BigInt(bits - 64);
    if (low >> shift === high >> shift) return low >> shift;
  }
}

/** Bounds of e^x 2^bits: the series of e^y, y = x/2^s with |y| <= 2^-6, then s squarings. */
function exponential(x: number, bits: bigint): readonly [bigint, bigint] {
  const squarings = bitLength(Math.abs(Math.ceil(x))) + 6;
  const [numerator, whole] = exact(x);
  const denominator = whole << BigInt(squarings);
  let term = 1n << bits;
  let low = term;
  let i = 1n;
  for (; (term = floored(term * numerator, denominator * i)); i++) low += term;
  let high = low + 2n * i + 1n;
  for (let s = 0; s < squarings; s++) {
    low = (low * low) >> bits;
    high = -((-high * high) >> bits);
  }
  return [low, high];
}

/** T = floor(M r E / (r E + b - r)), the truth threshold of a choice among r of b reports; `bound` is 2^64 E. */
export function choiceThreshold(bound: bigint, inside: number, reports: number): bigint {
  const r = BigInt(inside);
  return (MODULUS * r * bound) / (r * bound + (BigInt(reports) - r) * MODULUS);
}

/** T = floor(M (E - 1) / (E - 1 + N)), the truth threshold of a replacement by one of N. */
export function replacementThreshold(bound: bigint, symbols: number): bigint {
  const gain = bound - MODULUS;
  return (MODULUS * gain) / (gain + BigInt(symbols) * MODULUS);
}

/** M mod b: low halves below it are rejected, so that every integer below b is equally likely. */
export function rejection(bound: number): bigint {
  return MODULUS % BigInt(bound);
}

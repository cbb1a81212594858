// Words of 64 bits as two halves of 32, which JavaScript computes with exactly, and without a branch.
//
// BigInt would be exact too. It is slower (scripts/speed.mjs compares them), and its time depends on the digits of a
// number, so that a small word, which is a true coin, could be seen on a clock.

/** A number below 2^64. */
export interface Word {
  readonly high: number;
  readonly low: number;
}

/** The halves of a whole number below 2^64. */
export function word(value: bigint): Word {
  return { high: Number(value >> 32n), low: Number(value & 0xffffffffn) };
}

/** 1 if a < b, else 0. */
export function less(aHigh: number, aLow: number, b: Word): number {
  return +(aHigh < b.high) | (+(aHigh === b.high) & +(aLow < b.low));
}

/** One of two numbers below 2^31: the first if `chosen` is 1, the second if it is 0; both are computed always. */
export function select(chosen: number, first: number, second: number): number {
  return second ^ ((first ^ second) & -chosen);
}

/** (high, low) times a factor below 2^32: what lies above 64 bits, and the two halves of the rest. */
export function product(
  high: number,
  low: number,
  factor: number,
): readonly [above: number, high: number, low: number] {
  // in digits of 16 bits, so that every sum stays below 2^53
  let sum = (low & 0xffff) * factor;
  const a = sum & 0xffff;
  sum = Math.floor(sum / 65536) + (low >>> 16) * factor;
  const b = sum & 0xffff;
  sum = Math.floor(sum / 65536) + (high & 0xffff) * factor;
  const c = sum & 0xffff;
  sum = Math.floor(sum / 65536) + (high >>> 16) * factor;
  return [Math.floor(sum / 65536), (((sum & 0xffff) << 16) | c) >>> 0, ((b << 16) | a) >>> 0];
}

/**
 * x mod m for whole numbers below 2^53. The time of a division of floats hardly depends on the numbers, that of `%`
 * does.
 */
export function mod(x: number, m: number): number {
  return x - Math.floor(x / m) * m;
}

/** a b mod m for numbers below 2^32. */
export function times(a: number, b: number, m: number): number {
  return mod(mod(a * (b >>> 16), m) * 65536 + a * (b & 0xffff), m);
}

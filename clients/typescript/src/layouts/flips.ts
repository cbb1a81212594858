import { MODULUS } from "../core/bounds.js";
import { COIN } from "./unary.js";

/** The smallest flip threshold t allowed when two encodings differ in `distance` bits: ((M - t)/t)^distance <= E. */
export function leastFlip(bound: bigint, distance: number): bigint {
  const power = BigInt(distance);
  let [low, high] = [1n, COIN / 2n]; // t = M/2 is allowed, since E >= 1
  while (low < high) {
    const t = (low + high) / 2n;
    if ((COIN - t) ** power * MODULUS <= bound * t ** power) high = t;
    else low = t + 1n;
  }
  return low;
}

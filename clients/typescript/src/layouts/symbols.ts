// Reports that are one symbol of a finite alphabet: a whole number below `symbols`, big-endian, in as few bytes as hold
// all.

import { bitLength } from "../core/bounds.js";
import { refuse } from "../core/errors.js";

/** The most different reports of a mechanism. */
export const MOST_SYMBOLS = 2 ** 31;

/** How symbols below `count` are written. */
export function symbolsBelow(count: number): (symbol: number) => Uint8Array<ArrayBuffer> {
  if (count > MOST_SYMBOLS) refuse("limit", `spec has ${count} different reports, above the limit of ${MOST_SYMBOLS}`);
  const bits = bitLength(count - 1);
  const size = (bits + 7) >> 3;
  return (symbol) => Uint8Array.from({ length: size }, (_, place) => symbol >>> (8 * (size - 1 - place)));
}

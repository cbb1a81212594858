// Symmetric unary encoding (k-RAPPOR): every bit is flipped with the same probability.

import { COIN, unary } from "../layouts/unary.js";
import { leastFlip } from "../layouts/flips.js";

/** Symmetric unary encoding. */
export const sue = unary("sue", [], ({ bound }) => {
  const flip = leastFlip(bound, 2);
  return [COIN - flip, flip];
});

// Optimised unary encoding: a fair coin for the value, rare ones for all others.

import { MODULUS, ceiled } from "../core/bounds.js";
import { COIN, unary } from "../layouts/unary.js";

/** Optimised unary encoding. */
export const oue = unary("oue", [], ({ bound }) => [
  COIN / 2n,
  // t = ceil(M / (E + 1)), the least with (M - t) / t <= E
  ceiled(COIN * MODULUS, bound + MODULUS),
]);

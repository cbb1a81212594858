// Thresholding with histogram encoding: unary encoding with the coins that Laplace noise and a cut at theta would give.

import { MODULUS, ceiled, exponentialBelow } from "../core/bounds.js";
import { between } from "../core/check.js";
import { COIN, unary } from "../layouts/unary.js";

/** Thresholding with histogram encoding. */
export const the = unary("the", ["theta"], ({ bound, epsilon, parameters }) => {
  const theta = between("theta", parameters.theta, 0.5, 1);
  // p = 1 - e^{eps(theta-1)/2}/2 rounded down, q = e^{-eps theta/2}/2 rounded up: both towards a smaller ratio
  let own = (COIN * (2n * MODULUS - exponentialAbove((epsilon * (theta - 1)) / 2))) / (2n * MODULUS);
  const other = ceiled(COIN * exponentialAbove((-epsilon * theta) / 2), 2n * MODULUS);
  while (own * (COIN - other) * MODULUS > bound * (COIN - own) * other) own -= 1n;
  return [own, other];
});

/** 2^64 e^x for x of at most zero, rounded up by at most one. */
function exponentialAbove(x: number): bigint {
  const above = exponentialBelow(x) + 1n;
  return above < MODULUS ? above : MODULUS;
}

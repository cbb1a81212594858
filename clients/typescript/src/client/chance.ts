// Chance for moments in time.

import { randomBytes } from "../randomness/keystream.js";

/** A random number from 0 to 1, for the moment of sending. */
export function chance(): number {
  return new Uint32Array(randomBytes(4).buffer)[0]! / 2 ** 32;
}

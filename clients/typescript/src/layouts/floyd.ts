// A uniform subset by Floyd's method, a byte per value.

import { below, type Choices } from "../randomness/choices.js";

/** Draw a uniform subset of 0..k-1 with `size` elements, one word each: a byte per value, 1 for the chosen. */
export function marked(choices: Choices, k: number, size: number): Uint8Array {
  const found = new Uint8Array(k);
  for (let newest = k - size; newest < k; newest++) {
    const drawn = below(choices, newest + 1);
    // the newest in place of one that is there already; an index, not a branch, obeys it
    const there = found[drawn]!;
    found[drawn + (newest - drawn) * there] = 1;
  }
  return found;
}

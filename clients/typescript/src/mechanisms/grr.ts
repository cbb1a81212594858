// k-ary randomised response: the truth with some probability, otherwise a uniform answer. One word is coin and answer.

import { MODULUS, ceiled, replacementThreshold } from "../core/bounds.js";
import type { Mechanism } from "../core/mechanism.js";
import { symbolsBelow } from "../layouts/symbols.js";
import { coin } from "../randomness/choices.js";
import { less, product, select, word } from "../randomness/words.js";

/** Randomised response. */
export const grr: Mechanism = {
  name: "grr",
  version: 1,
  parameters: [],
  build({ domain: { k }, bound }) {
    // the largest T up to the replacement threshold for which k divides M - T
    const symbols = BigInt(k);
    const truth = MODULUS - symbols * ceiled(MODULUS - replacementThreshold(bound, k), symbols);
    const [below, share] = [word(truth), word((MODULUS - truth) / symbols)];
    const estimated = 2 ** 32 * share.high + share.low;
    const encode = symbolsBelow(k);
    return {
      thresholds: { truth },
      stride: 1,
      randomize(index, choices) {
        const truthful = coin(choices, below);
        // (word - truth) mod 2^64, by halves
        const borrow = +(choices.low < below.low);
        const rest = { high: (choices.high - below.high - borrow) >>> 0, low: (choices.low - below.low) >>> 0 };
        // Divided by the share: the quotient of floats is off by one at most, and exact products say which it is. In
        // the half-open range of a true coin it may be anything.
        const near = Math.floor((2 ** 32 * rest.high + rest.low) / estimated) >>> 0;
        const drawn = near - 1 + reached(near) + reached(near + 1);
        return encode(select(truthful, index as number, drawn));

        function reached(quotient: number): number {
          const [above, high, low] = product(share.high, share.low, quotient);
          return +(above === 0) & (less(rest.high, rest.low, { high, low }) ^ 1);
        }
      },
    };
  },
};

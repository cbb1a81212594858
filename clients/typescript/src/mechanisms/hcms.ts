// Hadamard count mean sketch: one bit, a random sign of the Hadamard transform of the bit of a value's bucket.

import { choiceThreshold, rejection } from "../core/bounds.js";
import { must } from "../core/check.js";
import type { Mechanism } from "../core/mechanism.js";
import { COHORT_PARAMETERS, cohortsOf } from "../cohorts/functions.js";
import { open } from "../hashing/open.js";
import { symbolsBelow } from "../layouts/symbols.js";
import { parity } from "../numbers.js";
import { below, coin } from "../randomness/choices.js";
import { mod, word } from "../randomness/words.js";

/** Hadamard count mean sketch. */
export const hcms: Mechanism = {
  name: "hcms",
  version: 1,
  parameters: COHORT_PARAMETERS,
  open,
  build(setting) {
    const { cohorts, buckets, bucket } = cohortsOf(setting, false);
    must((buckets & (buckets - 1)) === 0, "buckets", "be a power of two");
    const pairs = cohorts * (buckets - 1);
    const encode = symbolsBelow(2 * pairs);
    const truth = choiceThreshold(setting.bound, 1, 2);
    const truthWord = word(truth);
    return {
      thresholds: { truth, rejection_pair: rejection(pairs) },
      stride: 2, // the cohort and its coordinate, and the coin
      randomize(index, choices) {
        const pair = below(choices, pairs);
        const turned = 1 - coin(choices, truthWord);
        // row 0 of the matrix has the same sign everywhere, and is left out
        const coordinate = mod(pair, buckets - 1) + 1;
        const odd = parity(coordinate & bucket(index, Math.floor(pair / (buckets - 1))));
        return encode(2 * pair + (odd ^ turned));
      },
    };
  },
};

// Hashed randomised response: the value's bucket in a random cohort, kept or replaced by a uniform one.

import { rejection, replacementThreshold } from "../core/bounds.js";
import type { Mechanism } from "../core/mechanism.js";
import { COHORT_PARAMETERS, cohortsOf } from "../cohorts/functions.js";
import { open } from "../hashing/open.js";
import { symbolsBelow } from "../layouts/symbols.js";
import { below, coin } from "../randomness/choices.js";
import { select, word } from "../randomness/words.js";

/** Hashed randomised response. */
export const orr: Mechanism = {
  name: "orr",
  version: 1,
  parameters: COHORT_PARAMETERS,
  open,
  build(setting) {
    const { cohorts, buckets, bucket } = cohortsOf(setting, true);
    const encode = symbolsBelow(cohorts * buckets);
    const truth = replacementThreshold(setting.bound, buckets);
    const truthWord = word(truth);
    return {
      thresholds: { truth, rejection_cohort: rejection(cohorts), rejection_bucket: rejection(buckets) },
      stride: 3, // the cohort, the coin, and the replacement, drawn whether needed or not
      randomize(index, choices) {
        const cohort = below(choices, cohorts);
        const truthful = coin(choices, truthWord);
        const replacement = below(choices, buckets);
        return encode(cohort * buckets + select(truthful, bucket(index, cohort), replacement));
      },
    };
  },
};

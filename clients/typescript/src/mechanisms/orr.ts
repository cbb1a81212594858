// Hashed randomised response: the value's bucket in a random cohort, kept or replaced by a uniform one.

import { rejection, replacementThreshold } from "../core/bounds.js";
import type { Mechanism } from "../core/mechanism.js";
import { COHORT_PARAMETERS, cohortsOf } from "../cohorts/functions.js";
import { digest } from "../hashing/functions.js";
import { symbolsBelow } from "../layouts/symbols.js";
import { select, word } from "../randomness/words.js";

/** Hashed randomised response. */
export const orr: Mechanism = {
  name: "orr",
  version: 1,
  parameters: COHORT_PARAMETERS,
  digest,
  build(setting) {
    const { cohorts, buckets, bucket } = cohortsOf(setting, true);
    const encode = symbolsBelow(cohorts * buckets);
    const truth = replacementThreshold(setting.bound, buckets);
    const truthWord = word(truth);
    return {
      thresholds: { truth, rejection_cohort: rejection(cohorts), rejection_bucket: rejection(buckets) },
      stride: 3, // the cohort, the coin, and the replacement, drawn whether needed or not
      randomize(index, choices) {
        const cohort = choices.below(cohorts);
        const truthful = choices.coin(truthWord);
        const replacement = choices.below(buckets);
        return encode(cohort * buckets + select(truthful, bucket(index, cohort), replacement));
      },
    };
  },
};

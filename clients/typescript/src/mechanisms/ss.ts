// Subset selection: a random set of w values, which holds the sender's value more often than chance would.

import { choiceThreshold } from "../core/bounds.js";
import { whole } from "../core/check.js";
import type { Mechanism } from "../core/mechanism.js";
import { bigEndian, codeBits, subsetCode } from "../layouts/subsetCode.js";
import { chooseSubset } from "../layouts/subsets.js";
import { word } from "../randomness/words.js";

/** Subset selection. */
export const ss: Mechanism = {
  name: "ss",
  version: 1,
  parameters: ["w"],
  build({ domain: { k }, bound, parameters }) {
    const w = whole("w", parameters.w, 1, k - 1);
    const size = (codeBits(k, w) + 7) >> 3;
    const truth = choiceThreshold(bound, w, k);
    const truthWord = word(truth);
    return {
      thresholds: { truth },
      stride: 1 + w, // the coin, the spare value, and w - 1 others
      randomize: (index, choices) =>
        bigEndian(subsetCode(chooseSubset(index as number, k, w, truthWord, choices), w, 8 * size), size),
    };
  },
};

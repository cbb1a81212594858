// Modular subset selection: subset selection of the value's residue, modulo the number of a random cohort.

import { bitLength, choiceThreshold, rejection } from "../core/bounds.js";
import { limit, must, wholes } from "../core/check.js";
import type { Mechanism } from "../core/mechanism.js";
import { bigEndian, codeBits, subsetCode } from "../layouts/subsetCode.js";
import { chooseSubset } from "../layouts/subsets.js";
import { below } from "../randomness/choices.js";
import { mod, word } from "../randomness/words.js";

/** Modular subset selection. */
export const mss: Mechanism = {
  name: "mss",
  version: 1,
  parameters: ["moduli", "sizes"],
  build({ domain: { k }, bound, parameters }) {
    const moduli = wholes("moduli", parameters.moduli, 2, k);
    const sizes = wholes("sizes", parameters.sizes, 1, k);
    const cohorts = moduli.length;
    limit("moduli", cohorts, 2 ** 8);
    must(
      cohorts && sizes.length === cohorts && moduli.every((m, j) => sizes[j]! < m),
      "sizes",
      "be smaller than the moduli, one for each",
    );
    const truths = moduli.map((m, j) => choiceThreshold(bound, sizes[j]!, m));
    const words = truths.map(word);
    const bits = moduli.map((m, j) => codeBits(m, sizes[j]!));
    const longest = Math.max(...bits);
    const size = (bitLength(cohorts - 1) + longest + 7) >> 3;
    return {
      thresholds: {
        rejection_cohort: rejection(cohorts),
        ...Object.fromEntries(truths.map((truth, j) => [`truth_${j}`, truth])),
      },
      stride: 2 + Math.max(...sizes), // the cohort, the coin, and draws enough for the largest subset
      randomize(index, choices) {
        const cohort = below(choices, cohorts);
        const [m, w] = [moduli[cohort]!, sizes[cohort]!];
        const set = chooseSubset(mod(index as number, m), m, w, words[cohort]!, choices);
        return bigEndian((BigInt(cohort) << BigInt(longest)) | subsetCode(set, w, bits[cohort]!), size);
      },
    };
  },
};

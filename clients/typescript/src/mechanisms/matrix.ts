// A channel that the spec writes out as a matrix of probabilities: a row per value, a column per report.

import { MODULUS } from "../core/bounds.js";
import { limit } from "../core/check.js";
import { refuse } from "../core/errors.js";
import type { Mechanism } from "../core/mechanism.js";
import { rounded } from "../designs/rounding.js";
import { symbolsBelow } from "../layouts/symbols.js";
import { less, word } from "../randomness/words.js";

/** A channel of one's own. */
export const matrix: Mechanism = {
  name: "matrix",
  version: 1,
  parameters: ["matrix"],
  build({ domain: { k }, bound, parameters }) {
    const given = parameters.matrix;
    if (!Array.isArray(given) || given.length !== k || !given.every(Array.isArray)) refuse("spec", "matrix must have one row for each value");
    const reports = (given as unknown[][])[0]!.length;
    limit("entries of a matrix", k * reports, 2 ** 14);
    if (reports < 1 || given.some((row) => row.length !== reports)) refuse("spec", "matrix must have rows of equal length");
    const starts = rounded(given, bound).map((row) => {
      let start = 0n; // the first word of each report but the first, which starts at 0
      return row.slice(0, -1).map((weight) => (start += weight));
    });
    if (starts.some((row) => row.some((start) => start >= MODULUS))) refuse("spec", "matrix must have positive entries");
    const words = starts.map((row) => row.map(word));
    const encode = symbolsBelow(reports);
    return {
      thresholds: Object.fromEntries(starts.flatMap((row, value) => row.map((start, i) => [`start_${value}_${i + 1}`, start]))),
      stride: 1,
      randomize(index, choices) {
        choices.next();
        let level = 0; // the starts that the word has reached
        for (const start of words[index as number]!) level += 1 - less(choices.high, choices.low, start);
        return encode(level);
      },
    };
  },
};

// A channel that the spec writes out as a matrix of probabilities: a row per value, a column per report.

import { limit, must } from "../core/check.js";
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
    must(
      Array.isArray(given) && given.length === k && given.every(Array.isArray),
      "matrix",
      "have one row for each value",
    );
    const reports = (given as unknown[][])[0]!.length;
    limit("entries of a matrix", k * reports, 2 ** 14);
    must(reports > 0 && given.every((row) => row.length === reports), "matrix", "have rows of equal length");
    const starts = rounded(given, bound).map((row) => {
      let start = 0n; // the first word of each report but the first, which starts at 0
      return row.slice(0, -1).map((weight) => (start += weight));
    });
    const words = starts.map((row) => row.map(word));
    const encode = symbolsBelow(reports);
    return {
      thresholds: Object.fromEntries(
        starts.flatMap((row, value) => row.map((start, i) => [`start_${value}_${i + 1}`, start])),
      ),
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

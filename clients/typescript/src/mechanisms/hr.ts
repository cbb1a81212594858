// Hadamard response: one symbol that has an even parity with the value's number.

import { bitLength, choiceThreshold, rejection } from "../core/bounds.js";
import { must, whole } from "../core/check.js";
import type { Mechanism } from "../core/mechanism.js";
import { symbolsBelow } from "../layouts/symbols.js";
import { parity } from "../numbers.js";
import { below, coin } from "../randomness/choices.js";
import { select, word } from "../randomness/words.js";

/** Hadamard response. */
export const hr: Mechanism = {
  name: "hr",
  version: 1,
  parameters: ["blocks"],
  build({ domain: { k }, bound, parameters }) {
    const blocks = whole("blocks", parameters.blocks, 1, 2 ** 30);
    const bits = bitLength(blocks) - 1;
    must(2 ** bits === blocks && blocks < 2 * k, "blocks", "be a power of two, and no more than the values need");
    // the smallest power of two above the values of a block, and at least 4
    const size = 2 ** Math.max(2, bitLength(Math.ceil(k / blocks)));
    const supporting = size / 2 - 1;
    const symbols = blocks * (size - 1);
    const encode = symbolsBelow(symbols);
    const truth = choiceThreshold(bound, supporting, symbols);
    const truthWord = word(truth);
    return {
      thresholds: {
        truth,
        rejection_inside: rejection(supporting),
        rejection_outside: rejection(symbols - supporting),
      },
      stride: 3, // the coin, a place among the reports that support the value and one among the others
      randomize(index, choices) {
        const truthful = coin(choices, truthWord);
        const inside = below(choices, supporting);
        const place = select(truthful, inside, supporting + below(choices, symbols - supporting));
        // place p = d (b - 1) + t - 1 names block (x mod B) xor d; the bits of t, except the highest, go in order to
        // the bits of u other than the lowest one of the value's number c, and that bit gives u & c the parity t's
        // highest says
        const moved = Math.floor(place / (size - 1));
        const t = place - moved * (size - 1) + 1;
        const number = ((index as number) >>> bits) + 1;
        const lowest = number & -number;
        const half = size / 2;
        const rest = t & (half - 1);
        const lower = rest & (lowest - 1);
        const u = lower + 2 * (rest - lower);
        const odd = parity(u & number) ^ +(t >= half);
        const block = ((index as number) & (blocks - 1)) ^ moved;
        return encode(block * (size - 1) + u + lowest * odd - 1);
      },
    };
  },
};

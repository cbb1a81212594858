// Block designs: the report names one of the listed sets of values.

import { choiceThreshold, rejection } from "../core/bounds.js";
import { isRising, limit, must, wholes } from "../core/check.js";
import type { Mechanism } from "../core/mechanism.js";
import { symbolsBelow } from "../layouts/symbols.js";
import { below, coin } from "../randomness/choices.js";
import { select, word } from "../randomness/words.js";

/** A block design that the spec lists. */
export const design: Mechanism = {
  name: "design",
  version: 1,
  parameters: ["blocks"],
  build({ domain: { k }, bound, parameters }) {
    const given = parameters.blocks;
    must(Array.isArray(given), "blocks", "be a list");
    const blocks = given.length;
    limit("values times blocks", k * blocks, 2 ** 22);
    const holds = new Uint8Array(k * blocks); // [value, block]
    given.forEach((block, place) => {
      const values = wholes("a block", block, 0, k - 1);
      must(isRising(values), "the values of a block", "rise");
      for (const value of values) holds[value * blocks + place] = 1;
    });
    // the guarantee rests on this number: every value must lie in equally many blocks
    const sums = Array.from({ length: k }, (_, value) =>
      holds.subarray(value * blocks, (value + 1) * blocks).reduce((a, b) => a + b, 0),
    );
    const inside = sums[0]!;
    must(
      inside > 0 && inside < blocks && sums.every((sum) => sum === inside),
      "blocks",
      "hold every value equally often, but none always",
    );
    const encode = symbolsBelow(blocks);
    const truth = choiceThreshold(bound, inside, blocks);
    const truthWord = word(truth);
    return {
      thresholds: { truth, rejection_inside: rejection(inside), rejection_outside: rejection(blocks - inside) },
      stride: 3, // the coin, a place among the blocks with the value, and one among those without
      randomize(index, choices) {
        const truthful = coin(choices, truthWord);
        const own = below(choices, inside);
        const wanted = select(truthful, own, below(choices, blocks - inside));
        // all blocks are gone through, counting those of the wanted kind
        let [found, rank] = [0, 0];
        for (let block = 0; block < blocks; block++) {
          const alike = +(holds[(index as number) * blocks + block] === truthful);
          found += block * (alike & +(rank === wanted));
          rank += alike;
        }
        return encode(found);
      },
    };
  },
};

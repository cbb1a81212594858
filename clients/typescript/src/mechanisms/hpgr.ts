// Hybrid projective geometry response: many small geometries side by side.

import { choiceThreshold, rejection } from "../core/bounds.js";
import { must, whole } from "../core/check.js";
import type { Mechanism } from "../core/mechanism.js";
import { geometry } from "../designs/singer.js";
import { MOST_SYMBOLS, symbolsBelow } from "../layouts/symbols.js";
import { below, coin } from "../randomness/choices.js";
import { mod, select, word } from "../randomness/words.js";

/** Hybrid projective geometry response. */
export const hpgr: Mechanism = {
  name: "hpgr",
  version: 1,
  parameters: ["q", "t", "h", "polynomial"],
  build({ domain: { k }, bound, parameters }) {
    const h = whole("h", parameters.h, 1, MOST_SYMBOLS);
    const { modulus, size, elements } = geometry(parameters);
    const symbols = modulus * h;
    const encode = symbolsBelow(symbols);
    const outside = symbols - size;
    must(symbols >= k && outside > 0, "q, t and h", "give a report for every value");
    const truth = choiceThreshold(bound, size, symbols);
    const truthWord = word(truth);
    return {
      thresholds: { truth, rejection_inside: rejection(size), rejection_outside: rejection(outside) },
      stride: 3, // the coin, a place inside and a place outside the set
      randomize(index, choices) {
        const truthful = coin(choices, truthWord);
        const inside = below(choices, size);
        const place = select(truthful, inside, size + below(choices, outside));
        // place p moves the block by p div b and the number by element p mod b, so that each report has one place
        const [number, block] = [Math.floor((index as number) / h), mod(index as number, h)];
        const moved = mod(number + elements[mod(place, modulus)]!, modulus);
        return encode(mod(block + Math.floor(place / modulus), h) * modulus + moved);
      },
    };
  },
};

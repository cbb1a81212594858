// Reports of a public number and a class. The number divides the values into classes, as a hash function does; the
// class of the value passes through randomised response. The number may follow from the report's id; then only the
// class is sent.

import { rejection, replacementThreshold } from "../core/bounds.js";
import type { Randomizer, Setting } from "../core/mechanism.js";
import { text } from "../core/check.js";
import type { Index } from "../core/domain.js";
import { symbolsBelow } from "../layouts/symbols.js";
import { below, Choices, coin, EXHAUSTED } from "../randomness/choices.js";
import { sha256 } from "../randomness/keystream.js";
import { select, word } from "../randomness/words.js";

/**
 * The randomizer of `publics` public numbers and `classes` classes; `classes` itself stands for a value without one.
 */
export function publicCoin(
  { bound, parameters }: Setting,
  publics: number,
  classes: number,
  classUnder: (index: number, publicNumber: number) => number,
): Randomizer {
  const salt = new TextEncoder().encode(text("salt", parameters.salt));
  const encode = symbolsBelow(publics * classes);
  const encodeClass = symbolsBelow(classes);
  const truth = replacementThreshold(bound, classes);
  const truthWord = word(truth);

  const sent = (index: Index, publicNumber: number, truthful: number, replacement: number): number => {
    const own = classUnder(index as number, publicNumber);
    return select(truthful & +(own < classes), own, replacement);
  };
  return {
    thresholds: { truth, rejection_class: rejection(classes), rejection_public: rejection(publics) },
    stride: 3, // the coin, the uniform class, and the public number
    randomize(index, choices) {
      const truthful = coin(choices, truthWord);
      const replacement = below(choices, classes);
      const publicNumber = below(choices, publics);
      return encode(publicNumber * classes + sent(index, publicNumber, truthful, replacement));
    },
    coined: {
      stride: 2,
      publicOf: async (id) => publicOf(id, await sha256(salt), publics),
      randomize(index, publicNumber, choices) {
        const truthful = coin(choices, truthWord);
        return encodeClass(sent(index, publicNumber, truthful, below(choices, classes)));
      },
    },
  };
}

/**
 * The public number of a report: exactly uniform if SHA-256 is.
 *
 * Words are the first 8 bytes of SHA-256(SHA-256(salt) || id || counter of 4 bytes), big-endian; a rejected word is
 * replaced by that of the next counter.
 */
async function publicOf(id: Uint8Array, salted: Uint8Array, publics: number): Promise<number> {
  for (let count = 1; ; count++) {
    const words = new DataView(new ArrayBuffer(8 * count));
    for (let counter = 0; counter < count; counter++) {
      const hashed = new DataView(
        (await sha256(Uint8Array.from([...salted, ...id, counter >>> 24, counter >>> 16, counter >>> 8, counter])))
          .buffer,
      );
      words.setBigUint64(8 * counter, hashed.getBigUint64(0), true);
    }
    try {
      return below(new Choices(words, new DataView(words.buffer, 8)), publics);
    } catch (error) {
      if (error !== EXHAUSTED) throw error;
    }
  }
}

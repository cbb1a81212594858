// The words of one report, from a keystream.

import { Choices, EXHAUSTED } from "../randomness/choices.js";
import type { Keystream } from "../randomness/keystream.js";

/** Make what `make` makes from the words of the report at `place` in a keystream; a device makes only number 0. */
export async function drawn<T>(
  keystream: Keystream,
  place: number,
  stride: number,
  make: (choices: Choices) => T,
): Promise<T> {
  return chosen(keystream, await keystream.words(0, place * stride, stride), 1 + place, make);
}

/**
 * Make what `make` makes from these words, of which rejected ones are replaced by those of an overflow stream.
 *
 * Rejections are so rare that none of its words is drawn before it is needed.
 */
export async function chosen<T>(
  keystream: Keystream,
  words: DataView,
  overflow: number,
  make: (choices: Choices) => T,
): Promise<T> {
  for (let spare = 0; ; spare = 2 * spare + 2) {
    const more = spare ? await keystream.words(overflow, 0, spare) : new DataView(new ArrayBuffer(0));
    try {
      return make(new Choices(words, more));
    } catch (error) {
      if (error !== EXHAUSTED) throw error;
    }
  }
}

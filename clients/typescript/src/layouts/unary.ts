// Unary encoding: one bit for each value, each tossed by a coin of its own, 32 coins at a time.

import { limit } from "../core/check.js";
import type { Mechanism, Setting } from "../core/mechanism.js";
import { coin, coins } from "../randomness/choices.js";
import { word } from "../randomness/words.js";
import { bitmapBytes, halvesOf, put } from "./bitmaps.js";

/** Coins compare numbers of 32 bits with thresholds below this. */
export const COIN = 1n << 32n;
/** The most coins of a report, which take half a word each. */
export const MOST_COINS = 2 ** 22;

/** A unary encoding, from the thresholds below 2^32 of the value's coin and of the others'. */
export function unary(
  name: string,
  parameters: readonly string[],
  coinsOf: (setting: Setting) => readonly [own: bigint, other: bigint],
): Mechanism {
  return {
    name,
    version: 1,
    parameters,
    build(setting) {
      const { k } = setting.domain;
      limit("coins", k, MOST_COINS);
      const [own, other] = coinsOf(setting).map((threshold) => threshold * COIN) as [bigint, bigint];
      const [ownWord, otherWord] = [word(own), word(other)];
      const halves = halvesOf(k);
      return {
        thresholds: { other, own },
        stride: 16 * halves + 1, // the coins of all bits, and one that replaces the value's
        randomize(index, choices) {
          const row = coins(choices, otherWord, halves);
          put(row, index as number, coin(choices, ownWord));
          return bitmapBytes(row, k);
        },
      };
    },
  };
}

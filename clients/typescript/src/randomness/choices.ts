// Exact choices for one report: coins and uniform integers, from its own words in order.
//
// How many words are read depends neither on the value nor on a coin, and neither does a branch: a method draws all it
// may need. Only a rejected word, which no value can cause, leads elsewhere.

import { less, product, times, type Word } from "./words.js";

/** Thrown where more words of the overflow stream are needed than were drawn; the report is then made again. */
export const EXHAUSTED = new Error("the overflow stream has more words");

/** The choices of one report. */
export class Choices {
  /** The upper half of the word read last. */
  high = 0;
  /** Its lower half. */
  low = 0;
  #read = 0;
  #replaced = 0;

  constructor(
    readonly words: DataView,
    readonly overflow: DataView,
  ) {}

  /** Read the next word. */
  next(): void {
    this.#take(this.words, this.#read);
    this.#read += 8;
  }

  /** Replace the word read last by the next one of the overflow stream. */
  replace(): void {
    if (this.#replaced >= this.overflow.byteLength) throw EXHAUSTED;
    this.#take(this.overflow, this.#replaced);
    this.#replaced += 8;
  }

  #take(words: DataView, at: number): void {
    this.low = words.getUint32(at, true);
    this.high = words.getUint32(at + 4, true);
  }
}

/** 1 with probability threshold / 2^64, else 0. */
export function coin(choices: Choices, threshold: Word): number {
  choices.next();
  return less(choices.high, choices.low, threshold);
}

/** Draw a uniform integer from 0 to bound - 1, for bounds below 2^32. */
export function below(choices: Choices, bound: number): number {
  const remainder = 2 ** 32 % bound;
  const least = times(remainder, remainder, bound); // 2^64 mod bound
  choices.next();
  let [drawn, high, low] = product(choices.high, choices.low, bound);
  while (high === 0 && low < least) {
    choices.replace();
    [drawn, high, low] = product(choices.high, choices.low, bound);
  }
  return drawn;
}

/**
 * Toss 32 coins for each of `halves` numbers, one in each bit, all true with probability threshold / 2^64.
 *
 * A coin compares a uniform number of 32 bits with the upper half of the threshold, whose lower half is zero. Each run
 * of `halves` halves of words holds one bit of all these numbers, the least significant first.
 */
export function coins(choices: Choices, threshold: Word, halves: number): Uint32Array {
  const found = new Uint32Array(halves);
  for (let bit = 0; bit < 32; bit++) {
    const take = -((threshold.high >>> bit) & 1); // the threshold is public
    for (let i = 0; i < halves; i += 2) {
      choices.next();
      // where this bit differs from the threshold's it decides, else the lower bits do
      const [before, after] = [found[i]!, found[i + 1]!];
      found[i] = (before & (~choices.low | take)) | (~choices.low & take);
      found[i + 1] = (after & (~choices.high | take)) | (~choices.high & take);
    }
  }
  return found;
}

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
    this.low = this.words.getUint32(this.#read, true);
    this.high = this.words.getUint32(this.#read + 4, true);
    this.#read += 8;
  }

  /** 1 with probability threshold / 2^64, else 0. */
  coin(threshold: Word): number {
    this.next();
    return less(this.high, this.low, threshold);
  }

  /** Draw a uniform integer from 0 to bound - 1, for bounds below 2^32. */
  below(bound: number): number {
    // 2^64 mod bound; 2^32 mod bound squared
    const remainder = 2 ** 32 % bound;
    const least = times(remainder, remainder, bound);
    this.next();
    let [drawn, high, low] = product(this.high, this.low, bound);
    while (high === 0 && low < least) {
      this.#replace();
      [drawn, high, low] = product(this.high, this.low, bound);
    }
    return drawn;
  }

  #replace(): void {
    if (this.#replaced >= this.overflow.byteLength) throw EXHAUSTED;
    this.low = this.overflow.getUint32(this.#replaced, true);
    this.high = this.overflow.getUint32(this.#replaced + 4, true);
    this.#replaced += 8;
  }

  /**
   * Toss 32 coins for each of `halves` numbers, one in each bit, all true with probability threshold / 2^64.
   *
   * A coin compares a uniform number of 32 bits with the upper half of the threshold, whose lower half is zero. Each
   * run of `halves` numbers, the halves of words, holds one bit of all these numbers, the least significant first.
   */
  coins(threshold: Word, halves: number): Uint32Array {
    const found = new Uint32Array(halves);
    for (let bit = 0; bit < 32; bit++) {
      const take = -((threshold.high >>> bit) & 1); // the threshold is public
      for (let i = 0; i < halves; i++, this.#read += 4) {
        const clear = ~this.words.getUint32(this.#read, true);
        // where this bit differs from the threshold's it decides, else the lower bits do
        const before = found[i]!;
        found[i] = (before & (clear | take)) | (clear & take);
      }
    }
    return found;
  }
}

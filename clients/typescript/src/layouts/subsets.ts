// A random set of w of k values, which holds the sender's value more often than chance would.

import { below, coin, type Choices } from "../randomness/choices.js";
import { select, type Word } from "../randomness/words.js";
import { marked } from "./floyd.js";

/** Draw the set of a report from w + 1 words: a byte per value, 1 for those in the set. */
export function chooseSubset(index: number, k: number, w: number, truth: Word, choices: Choices): Uint8Array {
  const truthful = coin(choices, truth);
  const [last, nextToLast] = [k - 1, k - 2];
  // drawn as if the sender's value were the last, and the spare value the next to last
  const spare = below(choices, last);
  const set = new Uint8Array(k);
  set.set(marked(choices, nextToLast, w - 1));
  swap(set, spare, nextToLast);
  set[select(truthful, last, spare)] = 1;
  swap(set, index, last);
  return set;
}

function swap(set: Uint8Array, one: number, other: number): void {
  const kept = set[one]!;
  set[one] = set[other]!;
  set[other] = kept;
}

// Difference mechanisms: the report is the value moved, modulo K, by an element inside or outside a set.
//
// The cohort j is uniform. With probability T/M the value moves by a uniform element of D_j = m_j D, else by a uniform
// element outside it; the report (j, y) is sent as the number j K + y.

import { choiceThreshold, rejection } from "../core/bounds.js";
import { must } from "../core/check.js";
import type { Randomizer, Setting } from "../core/mechanism.js";
import { symbolsBelow } from "../layouts/symbols.js";
import { below, coin } from "../randomness/choices.js";
import { mod, select, times, word } from "../randomness/words.js";

/** Sets D_j = m_j D of `size` elements modulo `modulus`, one per cohort. */
export interface Sets {
  readonly modulus: number;
  readonly size: number;
  /** m_j, for each cohort j. */
  readonly multipliers: readonly number[];
  /** The element at a place, D first; every number modulo K has one place. */
  element(place: number): number;
}

/** The randomizer of a family of sets. */
export function difference({ bound, domain }: Setting, { modulus, size, multipliers, element }: Sets): Randomizer {
  const cohorts = multipliers.length;
  const outside = modulus - size;
  must(
    cohorts && size > 0 && outside > 0 && modulus >= domain.k,
    "sets",
    "leave elements inside and outside, and have room for all values",
  );
  const encode = symbolsBelow(cohorts * modulus);
  const truth = choiceThreshold(bound, size, modulus);
  const truthWord = word(truth);
  return {
    thresholds: {
      truth,
      rejection_cohort: rejection(cohorts),
      rejection_inside: rejection(size),
      rejection_outside: rejection(outside),
    },
    stride: 4, // the coin, the cohort, a place inside and a place outside the set
    randomize(index, choices) {
      const truthful = coin(choices, truthWord);
      const cohort = below(choices, cohorts);
      const inside = below(choices, size);
      const place = select(truthful, inside, size + below(choices, outside));
      const moved = (index as number) + times(multipliers[cohort]!, element(place), modulus);
      return encode(cohort * modulus + mod(moved, modulus));
    },
  };
}

// Cohorts whose reports are Bloom filters with every bit flipped by its own coin, all with the same probability.

import { bitLength, rejection } from "../core/bounds.js";
import { limit, whole } from "../core/check.js";
import type { Mechanism } from "../core/mechanism.js";
import { open } from "../hashing/open.js";
import { bitmapBytes, halvesOf, put } from "../layouts/bitmaps.js";
import { leastFlip } from "../layouts/flips.js";
import { COIN, MOST_COINS } from "../layouts/unary.js";
import { below, coins } from "../randomness/choices.js";
import { word } from "../randomness/words.js";
import { COHORT_PARAMETERS, cohortsOf } from "./functions.js";

/** Flipped filters; with `several`, the parameter `hashes` says how many hash functions a cohort has. */
export function filters(name: string, permutes: boolean, several: boolean): Mechanism {
  return {
    name,
    version: 1,
    parameters: several ? [...COHORT_PARAMETERS, "hashes"] : COHORT_PARAMETERS,
    open,
    build(setting) {
      const hashes = several ? whole("hashes", setting.parameters.hashes, 1, 32) : 1;
      const { cohorts, buckets, bucket } = cohortsOf(setting, permutes, hashes);
      limit("coins", buckets, MOST_COINS);
      const flip = leastFlip(setting.bound, Math.min(2 * hashes, buckets)) * COIN;
      const flipWord = word(flip);
      const halves = halvesOf(buckets);
      const size = (bitLength(cohorts - 1) + buckets + 7) >> 3;
      return {
        thresholds: { flip, rejection_cohort: rejection(cohorts) },
        stride: 1 + 16 * halves, // the cohort, and the coins of all bits
        randomize(index, choices) {
          const cohort = below(choices, cohorts);
          const row = coins(choices, flipWord, halves);
          const own = new Uint32Array(halves);
          for (let place = 0; place < hashes; place++) put(own, bucket(index, cohort, place), 1);
          for (let i = 0; i < halves; i++) row[i]! ^= own[i]!;
          // the buckets are the least significant bits, the cohort lies above them
          const bytes = new Uint8Array(size);
          bytes.set(bitmapBytes(row, buckets));
          for (let bit = 0; bit < bitLength(cohorts - 1); bit++)
            bytes[(buckets + bit) >> 3]! |= ((cohort >>> bit) & 1) << ((buckets + bit) & 7);
          return bytes;
        },
      };
    },
  };
}

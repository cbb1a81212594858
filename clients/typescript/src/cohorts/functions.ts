// The sizes and hash functions of cohort mechanisms: a report names a cohort, and the bucket to which it hashes the
// value.

import { limit, whole } from "../core/check.js";
import type { Index } from "../core/domain.js";
import type { Setting } from "../core/mechanism.js";
import { hashed, permuted } from "../hashing/functions.js";
import { mod } from "../randomness/words.js";

/** The parameters of every cohort mechanism besides epsilon. */
export const COHORT_PARAMETERS = ["cohorts", "buckets", "candidates", "seed"];

/** The sizes, checked, and the functions that give a value its bucket. */
export interface Cohorts {
  readonly cohorts: number;
  readonly buckets: number;
  bucket(index: Index, cohort: number, place?: number): number;
}

/** The functions of a setting; with `permutes`, permutations of a closed domain replace hashes. */
export function cohortsOf({ domain, parameters }: Setting, permutes: boolean, hashes = 1): Cohorts {
  const size = permutes ? domain.k : 0; // 0 in an open domain
  const cohorts = whole("cohorts", parameters.cohorts, 1, 2 ** 16);
  const buckets = whole("buckets", parameters.buckets, 2, size || 2 ** 26);
  limit("cells", cohorts * buckets, 2 ** 26);
  whole("candidates", parameters.candidates, domain.k || 1, domain.k || 2 ** 31);
  const seed = whole("seed", parameters.seed, 0, 2 ** 32 - 1);
  return {
    cohorts,
    buckets,
    bucket(index, cohort, place = 0) {
      const number = cohort * hashes + place;
      return size ? mod(permuted(seed, number, index as number, size), buckets) : hashed(seed, number, index, buckets);
    },
  };
}

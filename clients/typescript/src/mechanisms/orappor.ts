// Hashed RAPPOR: a value's Bloom filter in a random cohort, with every bit flipped alike.

import { filters } from "../cohorts/filters.js";

/** Hashed RAPPOR. */
export const orappor = filters("orappor", true, true);

// Count mean sketch: filters of one bit in cohorts of plain hash functions.

import { filters } from "../cohorts/filters.js";

/** Count mean sketch. */
export const cms = filters("cms", false, false);

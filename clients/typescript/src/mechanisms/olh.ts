// Optimised local hashing: every vector but 0 is a seed, and g is the prime with the least error.

import { whole } from "../core/check.js";
import { linear } from "../hashing/linear.js";
import { MOST_SYMBOLS } from "../layouts/symbols.js";

/** Optimised local hashing. */
export const olh = linear("olh", ["g"], false, ({ parameters }) => whole("g", parameters.g, 2, MOST_SYMBOLS));

// Fast local hashing: few seeds, one of each line through 0.

import { whole } from "../core/check.js";
import { linear } from "../hashing/linear.js";
import { MOST_SYMBOLS } from "../layouts/symbols.js";

/** Fast local hashing. */
export const flh = linear("flh", ["g"], true, ({ parameters }) => whole("g", parameters.g, 2, MOST_SYMBOLS));

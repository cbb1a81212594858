// Binary local hashing: two classes, so that a report is one bit beside its seed.

import { linear } from "../hashing/linear.js";

/** Binary local hashing. */
export const blh = linear("blh", [], false, () => 2);

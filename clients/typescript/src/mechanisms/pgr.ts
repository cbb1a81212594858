// Projective geometry response: values and reports are the points of a projective geometry over a small field.

import type { Mechanism } from "../core/mechanism.js";
import { difference } from "../designs/difference.js";
import { geometry } from "../designs/singer.js";

/** Projective geometry response. */
export const pgr: Mechanism = {
  name: "pgr",
  version: 1,
  parameters: ["q", "t", "polynomial"],
  build(setting) {
    const { modulus, size, elements } = geometry(setting.parameters);
    return difference(setting, { modulus, size, multipliers: [1], element: (place) => elements[place]! });
  },
};

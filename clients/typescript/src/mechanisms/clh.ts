// Cyclotomic local hashing: the hash of x under the public y is the cyclotomic class of x - y modulo a prime.

import { limit, must, whole } from "../core/check.js";
import type { Mechanism } from "../core/mechanism.js";
import { publicCoin } from "../hashing/publicCoins.js";
import { MOST_SYMBOLS } from "../layouts/symbols.js";
import { isPrime, power, primitiveRoot } from "../numbers.js";
import { times } from "../randomness/words.js";

/** Cyclotomic local hashing. */
export const clh: Mechanism = {
  name: "clh",
  version: 1,
  parameters: ["modulus", "classes", "salt"],
  build(setting) {
    const modulus = whole("modulus", setting.parameters.modulus, Math.max(setting.domain.k, 3), MOST_SYMBOLS);
    const classes = whole("classes", setting.parameters.classes, 2, MOST_SYMBOLS);
    limit("classes", classes, 2 ** 22);
    must(isPrime(modulus) && (modulus - 1) % classes === 0, "modulus", "be a prime K, and classes divide K - 1");
    // (g^(N i + a))^((K - 1)/N) = (g^((K - 1)/N))^a: one modular power tells the class
    const exponent = (modulus - 1) / classes;
    const unit = power(primitiveRoot(modulus), exponent, modulus);
    const units = new Uint32Array(classes);
    for (let a = 0, found = 1; a < classes; a++, found = times(found, unit, modulus)) units[a] = found;
    return publicCoin(setting, modulus, classes, (index, y) => {
      const difference = index - y;
      const raised = power(difference + modulus * +(difference < 0), exponent, modulus);
      // all classes are compared, so that time does not tell which it is; 0, which has none, is none of them
      let own = classes;
      for (let a = 0; a < classes; a++) own += (a - classes) * +(units[a] === raised);
      return own;
    });
  },
};

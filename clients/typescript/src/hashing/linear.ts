// Local hashing by linear functions with exact collisions.
//
// g is a prime, and the index of a value is a vector of d digits modulo g. A public seed, a vector too and not 0,
// hashes it to their inner product, which passes through randomised response over the g classes.

import { must } from "../core/check.js";
import type { Mechanism, Setting } from "../core/mechanism.js";
import { isPrime } from "../numbers.js";
import { mod } from "../randomness/words.js";
import { publicCoin } from "./publicCoins.js";

/** Linear hashing to g classes, whose seeds are all vectors, or with `lines` one of each line through 0. */
export function linear(
  name: string,
  parameters: readonly string[],
  lines: boolean,
  classesOf: (setting: Setting) => number,
): Mechanism {
  return {
    name,
    version: 1,
    parameters: [...parameters, "salt"],
    build(setting) {
      const g = classesOf(setting);
      must(isPrime(g), "g", "be prime");
      let digits = 1;
      while (g ** digits < setting.domain.k) digits++;
      const seeds = (count: number): number => (g ** count - 1) / (g - 1);
      const publics = lines ? seeds(digits) : g ** digits - 1;
      return publicCoin(setting, publics, g, (index, publicNumber) => {
        // seeds and their places rise together, but with lines they leap to g^j at the place seeds(j)
        let seed = publicNumber + 1;
        if (lines)
          for (let j = 0; j < digits; j++) if (publicNumber >= seeds(j)) seed = publicNumber - seeds(j) + g ** j;
        let total = 0;
        for (let digit = 0; digit < digits; digit++) {
          total += mod(index, g) * mod(seed, g);
          index = Math.floor(index / g);
          seed = Math.floor(seed / g);
        }
        return mod(total, g);
      });
    },
  };
}

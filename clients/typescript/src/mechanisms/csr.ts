// Cyclotomic subset response: the value moves, modulo K, by an element inside or outside a set, or a multiple of it.

import { isRising, limit, members, must, whole, wholes, type Members } from "../core/check.js";
import type { Mechanism } from "../core/mechanism.js";
import { difference, type Sets } from "../designs/difference.js";
import { randomSets } from "../designs/randomSets.js";
import { isPrime, power, primitiveRoot } from "../numbers.js";
import { mod, select } from "../randomness/words.js";

const MOST_COHORTS = 512;

/** Cyclotomic subset response. `loss` is a note for whoever estimates, and is not derived again. */
export const csr: Mechanism = {
  name: "csr",
  version: 1,
  parameters: ["sets", "loss"],
  async build(setting) {
    const given = setting.parameters.sets as Members | null;
    const sets =
      given && "seed" in given ? await randomSets(given, setting.domain.k) : cyclotomy(given, setting.domain.k);
    return difference(setting, sets);
  },
};

/**
 * A union of cosets of a subgroup of the numbers modulo a prime K, optionally with 0; cohort j uses it times g^j.
 *
 * N divides K - 1, g is the least primitive root, and the classes are C_a = {g^(N i + a)}.
 */
function cyclotomy(document: unknown, k: number): Sets {
  const given = members("sets", document, ["modulus", "classes", "chosen", "zero", "cohorts", "root"]);
  const modulus = whole("modulus", given.modulus, Math.max(k, 3), 2 ** 31);
  const classes = whole("classes", given.classes, 1, modulus - 1);
  limit("classes", classes, 2 ** 22);
  const root = whole("root", given.root, 1, modulus - 1);
  must(isPrime(modulus) && (modulus - 1) % classes === 0, "modulus", "be a prime K, and classes divide K - 1");
  must(root === primitiveRoot(modulus), "root", "be the least");
  const [chosen, cohorts] = ["chosen", "cohorts"].map((name) => {
    const found = wholes(name, given[name], 0, classes - 1);
    must(isRising(found), name, "rise");
    return found;
  }) as [number[], number[]];
  must(typeof given.zero === "boolean", "zero", "be true or false");
  limit("cohorts", cohorts.length, MOST_COHORTS);

  const coset = (modulus - 1) / classes;
  const zero = +given.zero;
  const inside = chosen.length * coset;
  const listed = new Set(chosen);
  const order = [...chosen]; // the classes, chosen ones first
  for (let a = 0; a < classes; a++) if (!listed.has(a)) order.push(a);
  order.push(0); // where 0 stands in for an element
  const zeroAt = zero ? inside : modulus - 1;
  return {
    modulus,
    size: inside + zero,
    multipliers: cohorts.map((j) => power(root, j, modulus)),
    element(place) {
      // first the set by class, then the others, 0 at the end of its part; every place takes the same steps
      const before = place - (zero & +(place > inside));
      const turn = Math.floor(before / coset);
      const found = power(root, classes * mod(before, coset) + order[turn]!, modulus);
      return select(+(place !== zeroAt), found, 0);
    },
  };
}

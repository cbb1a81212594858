// A spec: the document that client and server share. What can be derived from the rest of it is derived again.

import { between, limit, members, must, text } from "./check.js";
import { exponentialBelow } from "./bounds.js";
import { domainOf, type Domain } from "./domain.js";
import { refuse } from "./errors.js";
import type { Mechanism, Randomizer } from "./mechanism.js";
import type { Members } from "./check.js";

const MEMBERS = ["deniable", "domain", "mechanism", "parameters", "thresholds", "version"];
const MAX_EPSILON = 50;

/** What a spec says, checked, and the randomizer that follows from it. */
export interface Spec {
  readonly mechanism: string;
  readonly version: number;
  readonly epsilon: number;
  readonly domain: Domain;
  /** All parameters, as the document has them. */
  readonly parameters: Members;
  readonly randomizer: Randomizer;
}

/** Read the plain data of a spec, with the mechanisms that this program has. */
export async function specOf(document: unknown, mechanisms: readonly Mechanism[]): Promise<Spec> {
  if (!Array.isArray(mechanisms)) refuse("setting", "mechanisms must be a list, such as [grr]");
  const layout = (document as Members | null)?.deniable;
  if (typeof layout === "number" && layout > 1)
    refuse("mechanism", `spec has the layout ${layout}; this program reads layout 1`);
  const found = members("spec", document, MEMBERS);
  must(layout === 1, "spec", 'have the member "deniable": 1');
  const name = text("mechanism", found.mechanism);
  const known = mechanisms.filter((each) => each.name === name);
  const names = mechanisms.map((each) => each.name).join(", ") || "none";
  if (!known.length)
    refuse("mechanism", `this program has no mechanism ${JSON.stringify(name.slice(0, 40))}; it has ${names}`);
  const mechanism = known.find((each) => each.version === found.version);
  if (!mechanism) refuse("mechanism", `this program has no such version of the mechanism ${name}`);

  const parameters = members("parameters", found.parameters, ["epsilon", ...mechanism.parameters]);
  const epsilon = between("epsilon", parameters.epsilon, Number.MIN_VALUE, MAX_EPSILON);
  const domain = domainOf(found.domain, mechanism.open);
  const randomizer = await mechanism.build({ domain, epsilon, bound: exponentialBelow(epsilon), parameters });
  agree(found.thresholds, randomizer.thresholds);
  return { mechanism: name, version: mechanism.version, epsilon, domain, parameters, randomizer };
}

/** Refuse thresholds other than the derived ones, so that nobody can weaken the guarantee by editing an integer. */
function agree(given: unknown, derived: Readonly<Record<string, bigint>>): void {
  const names = Object.keys(derived);
  limit("thresholds", names.length, 2 ** 17);
  const stated = members("thresholds", given, names);
  must(
    names.every((name) => stated[name] === String(derived[name])),
    "the spec's thresholds",
    "follow from its domain, mechanism and parameters",
  );
}

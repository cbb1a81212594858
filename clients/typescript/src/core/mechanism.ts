// What a mechanism is to the rest of the client: it follows from a spec, and turns an index and random words into
// bytes.

import type { Choices } from "../randomness/choices.js";
import type { Members } from "./check.js";
import type { Domain, Index, OpenDomain } from "./domain.js";

/** What a mechanism is made from, as a spec says it. */
export interface Setting {
  readonly domain: Domain;
  readonly epsilon: number;
  /** floor(e^epsilon 2^64): E in units of 2^-64, from below. */
  readonly bound: bigint;
  /** All parameters but epsilon; their names are checked, their values are not. */
  readonly parameters: Members;
}

/** How an answer becomes a report, ready to run. */
export interface Randomizer {
  /** The integers that run, derived again from the setting; a spec with others is refused. */
  readonly thresholds: Readonly<Record<string, bigint>>;
  /** Random words per report, the same for every value and coin. */
  readonly stride: number;
  /** The bytes of a report: the same bytes from the same words, whenever and wherever it runs. */
  randomize(index: Index, choices: Choices): Uint8Array<ArrayBuffer>;
  /** How reports are made whose public number follows from their id, where the mechanism has such. */
  readonly coined?: Coined;
}

/** Reports of a class alone, under a public number that the server knows from the report's id. */
export interface Coined {
  readonly stride: number;
  /** The public number of a report with this id, for client and server alike. */
  publicOf(id: Uint8Array): Promise<number>;
  /** The bytes of the class, which are sent beside the id. */
  randomize(index: Index, publicNumber: number, choices: Choices): Uint8Array<ArrayBuffer>;
}

/** A mechanism as a program registers it: nothing but what a bundler finds imported is shipped. */
export interface Mechanism {
  readonly name: string;
  readonly version: number;
  /** The names of its parameters besides epsilon; a spec must state them all. */
  readonly parameters: readonly string[];
  /** How an open domain is read, by mechanisms whose values may be any strings. */
  readonly open?: OpenDomain;
  /** Make it, or throw a `DeniableError` if the setting is wrong. */
  build(setting: Setting): Randomizer | Promise<Randomizer>;
}

// How a client is set up, and what it needs of a question.

import type { Mechanism } from "../core/mechanism.js";
import type { Fate, Store } from "./store.js";

/** What a question must do for the client; `Question` and the heavy hitters both can. */
export interface Asked {
  readonly fingerprint: string;
  readonly epsilon: number;
  check(value: unknown): void;
  /** The payload of a report under this id. */
  payload(value: unknown, id: Uint8Array): Promise<Uint8Array>;
}

/** How a client is set up. */
export interface Options {
  /** The address of the collector, such as "https://reports.example". */
  readonly url: string;
  /** The write key of the collection: dnw_... */
  readonly key: string;
  readonly collection: string;
  readonly mechanisms: readonly Mechanism[];
  /** The SHA-256 of the collection's signing key. Without it any key is trusted that the address gives. */
  readonly pinned?: string;
  /** The fingerprint of the one spec that was reviewed. */
  readonly fingerprint?: string;
  /** A spec, where no form is to be asked for: with `bucket` and without segments, unless given. */
  readonly spec?: unknown;
  readonly bucket?: string;
  /** The labels of this device's segments by name. */
  readonly segments?: Readonly<Record<string, string>>;
  /** The most epsilon that this device may ever spend, over all questions in its store: 10 unless you say otherwise. */
  readonly cap?: number;
  readonly store?: Store;
  /**
   * The longest wait before a report is sent, in milliseconds: an hour unless you say otherwise. Each moment of it is
   * equally likely, so that the time of sending tells the time of answering no better than to within `delay`.
   */
  readonly delay?: number;
  /** Whether what waits is also sent when the page is left. Then whoever answers and leaves at once is sent at once. */
  readonly beacon?: boolean;
  /** How a spec becomes a question; that of heavy hitters is in "deniable/heavy-hitters". */
  readonly read?: (spec: unknown, fingerprint: string | undefined) => Promise<Asked>;
}

/** Where an answer is. */
export interface Given {
  /** False if this question had been answered before: the first report stands. */
  readonly fresh: boolean;
  readonly fate: Fate;
}

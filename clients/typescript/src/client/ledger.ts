// What is written down about an answer, step by step: spent before anything is drawn, one report for ever, taken back.

import { refuse } from "../core/errors.js";
import type { Given } from "./options.js";
import type { Kept, State } from "./store.js";

const DAY = 86_400_000;

/** What an answer costs, and where it is sent. */
export interface Intent {
  readonly epsilon: number;
  readonly fingerprint: string;
  readonly url: string;
  /** The bytes of the write key, in hexadecimal. */
  readonly secret: string;
  readonly cap: number;
  /** Refuse an answer that the question does not allow; it is not asked where there is an answer. */
  permitted(): void;
}

/** The name under which the answer is kept: that of the address where it was given first. */
const at = ({ aliases }: State, name: string): string => aliases?.[name] ?? name;

/** What is kept of the answer. */
export const entry = (state: State, name: string): Kept | undefined => state.answers?.[at(state, name)];

/** Whether the person has agreed. */
export const agreed = (state: State, name: string): boolean => state.consents?.[at(state, name)] === true;

/** Keep what the person said. */
export function agree(state: State, name: string, given: boolean): void {
  (state.consents ??= {})[at(state, name)] = given;
}

/** The answer, once its report is made; refuse to go on without consent. */
export function answered(state: State, name: string): Kept | undefined {
  if (!agreed(state, name)) refuse("consent", "the person has not agreed: call consent(true) when they have");
  const mine = entry(state, name);
  return mine?.frame === undefined ? undefined : mine;
}

/** Spend the epsilon of an answer; or return the answer that there is, here or at another address of the collector. */
export function begin(state: State, name: string, intent: Intent): Kept | undefined {
  const mine = answered(state, name);
  if (mine) return mine;
  intent.permitted();
  const other = adopt(state, name, intent);
  if (other?.frame !== undefined) return other;
  const { epsilon, fingerprint, url, cap } = intent;
  // an answer that was being drawn when the page was closed was never sent: only a larger epsilon costs more
  const paid = entry(state, name)?.epsilon ?? 0;
  const spent = (state.spent ?? 0) + Math.max(0, epsilon - paid);
  if (!(spent <= cap)) refuse("cap", `this device may spend ${cap} in all, and has spent ${state.spent ?? 0}`);
  state.spent = spent;
  (state.answers ??= {})[at(state, name)] = { fate: "drawing", epsilon: Math.max(epsilon, paid), fingerprint, url };
  return undefined;
}

/**
 * Take over an answer to the same spec of a collection of the same name, given at another address.
 *
 * A report that never left goes to the new address; any other stays where it may have arrived.
 */
function adopt(state: State, name: string, { fingerprint, url, secret }: Intent): Kept | undefined {
  const collection = (each: string): string => each.slice(each.indexOf(" "));
  const [other, kept] =
    Object.entries(state.answers ?? {}).find(
      ([each, found]) => found.fingerprint === fingerprint && each !== name && collection(each) === collection(name),
    ) ?? [];
  if (!other || !kept) return undefined;
  (state.aliases ??= {})[name] = other;
  agree(state, name, true);
  if (kept.frame && !kept.tried) {
    kept.url = url;
    kept.frame = kept.frame.slice(0, 16) + secret + kept.frame.slice(48);
  }
  return kept;
}

/** Keep the report of an answer that was begun, unless another tab was faster or the answer was taken back. */
export function finish(state: State, name: string, made: Partial<Kept>): Given {
  const mine = entry(state, name);
  const fresh = mine?.fate === "drawing" && agreed(state, name);
  if (fresh) Object.assign(mine, made);
  return { fresh, fate: mine?.frame === undefined ? "expired" : mine.fate };
}

/** Take an answer back: its report goes at once, and if it may have arrived, the collector is to delete it. */
export function forgotten(state: State, name: string): void {
  agree(state, name, false);
  const mine = entry(state, name);
  if (mine && mine.frame === undefined) delete state.answers![at(state, name)];
  if (!mine?.frame) return;
  const given = mine.fate === "refused" || mine.fate === "expired"; // given up
  Object.assign(mine, { frame: "", next: 0, failures: 0, kind: mine.tried ? "untaken" : "forgotten" });
  mine.fate = (given ? mine.unanswered : mine.tried) ? "withdrawing" : "expired";
}

/** What is still to be sent, or to be taken back from the collector. */
export function sendable(state: State, name: string): Kept | undefined {
  const found = entry(state, name);
  const sends = found?.fate === "withdrawing" || (found?.fate === "queued" && agreed(state, name));
  return sends ? found : undefined;
}

/** Milliseconds until a report is due. What waits longer than any delay or pause was put off by a wrong clock. */
export function left({ next = 0, delay = 0 }: Kept): number {
  const wait = next - Date.now();
  return wait > delay + DAY ? 0 : Math.max(0, wait);
}

// Sending: the same bytes until the collector itself says that they arrived, or that they never can.

import { unhex } from "../core/hex.js";
import { chance } from "./chance.js";
import { entry, left, sendable } from "./ledger.js";
import type { Kept, Store } from "./store.js";
import { asked, isRefusal } from "./web.js";

const FIRST = 5_000; // milliseconds until a second try; then twice as long each time
const LONGEST = 3_600_000;
const LEASE = 60_000; // for which other tabs leave a report alone that one is sending
// what an administrator can put right, so that the report waits: a key, an address, an origin
const SETTINGS =
  "no-key unknown-key wrong-key wrong-origin not-found wrong-method unsupported-type not-http".split(" ");

/** What became of one attempt. */
interface Said {
  /** Where the answer is then; without one, it is tried again. */
  fate?: Kept["fate"];
  kind?: string;
  /** How long to wait at least. */
  wait?: number;
  /** Whether the collector has said what it did with the report. */
  clear?: boolean;
}

async function posted({ url, frame }: Kept): Promise<Said> {
  const found = await asked(`${url}/v1/reports`, {
    method: "POST",
    body: unhex(frame!),
    headers: { "content-type": "text/plain" }, // a browser asks nobody before it sends this
    keepalive: frame!.length < 100_000,
  });
  if (!found) return {};
  const { status, said, wait } = found;
  if (status === 200 && said.accepted === 1) return { fate: "sent", clear: true };
  if (!isRefusal(found)) return { wait };
  const kind = said.kind as string;
  if (status >= 500) return { kind, wait };
  if (status === 429 || status === 408 || kind === "in-future" || SETTINGS.includes(kind))
    return { kind, wait, clear: true };
  return { fate: kind === "too-old" ? "expired" : "refused", kind, clear: true };
}

async function deleted({ url, id, hour }: Kept, key: string): Promise<Said> {
  const found = await asked(`${url}/v1/reports/${id}?bucket=${hour}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${key}` },
  });
  if (!found) return {};
  const { status, said, wait } = found;
  if (status === 200 && typeof said.outcome === "string") return { fate: "expired", kind: said.outcome };
  // where ids are remembered, one that is not there was never counted, and never will be; of older ones nobody knows
  const kinds: Record<string, string> = { "no-such-report": "deleted", "too-old": "gone" };
  const kind = isRefusal(found) ? kinds[said.kind as string] : undefined;
  return kind ? { fate: "expired", kind } : { wait };
}

/** Take the report if it is due, or in any case if `now`: no other tab sends it meanwhile by itself. */
function leased(store: Store, name: string, now: boolean): Promise<Kept | undefined> {
  return store.change((state) => {
    const found = sendable(state, name);
    if (!found || (!now && left(found))) return undefined;
    if (found.fate === "queued") {
      found.tried = true; // before it leaves
      found.unanswered = (found.unanswered ?? 0) + 1;
    }
    found.next = Date.now() + LEASE;
    return { ...found };
  });
}

/** Write down what became of an attempt. */
function settle(found: Kept, due: Kept, said: Said): void {
  if (said.clear && found.unanswered) found.unanswered -= 1;
  const late = said.fate === "sent" && found.frame; // another attempt was refused before this one was acknowledged
  if (found.fate !== due.fate && !late) return; // meanwhile it was sent by another tab, or taken back
  if (said.kind === undefined) delete found.kind;
  else found.kind = said.kind;
  if (said.fate) found.fate = said.fate;
  else {
    found.failures = (found.failures ?? 0) + 1;
    const backoff = Math.min(LONGEST, FIRST * 2 ** found.failures) * (0.5 + chance() / 2);
    found.next = Date.now() + Math.max(said.wait ?? 0, backoff);
  }
}

/** Send the report of this name if it is due, or in any case if `now`; or ask for its deletion. Return what is kept. */
export async function deliver(store: Store, name: string, key: string, now: boolean): Promise<Kept | undefined> {
  const due = await leased(store, name, now);
  const said = due && (await (due.fate === "queued" ? posted(due) : deleted(due, key)));
  return store.change((state) => {
    const found = entry(state, name);
    if (found && due && said) settle(found, due, said);
    return found;
  });
}

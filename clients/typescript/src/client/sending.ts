// Sending: the same bytes until the collector says that they arrived, or that they never can.

import { chance, unhex } from "./bytes.js";
import type { Kept, Store } from "./store.js";

/** What became of one report. */
export interface Outcome {
  readonly question: string;
  readonly fate: Kept["fate"];
  readonly kind?: string;
}

const FIRST = 5_000; // milliseconds until a second try; then twice as long each time
const LONGEST = 3_600_000;
const AGAIN = [408, 425, 429, 500, 502, 503, 504];

interface Said {
  fate?: "sent" | "expired" | "refused";
  kind?: string;
  wait?: number;
}

async function posted(kept: Kept): Promise<Said> {
  const response = await fetch(`${kept.url}/v1/reports`, {
    method: "POST",
    body: unhex(kept.frame!),
    headers: { "content-type": "text/plain" }, // a browser asks nobody before it sends this
    keepalive: kept.frame!.length < 100_000,
    credentials: "omit",
  }).catch(() => undefined);
  if (response?.ok) return { fate: "sent" };
  if (!response) return {};
  const said = (await response.json().catch(() => ({}))) as { kind?: string };
  const kind = said.kind ?? String(response.status);
  if (AGAIN.includes(response.status) || kind === "in-future") return { kind, wait: 1000 * Number(response.headers.get("retry-after") ?? 0) || 0 };
  return { fate: kind === "too-old" ? "expired" : "refused", kind };
}

/** Send every report that is due, or every one, one after the other, and keep what became of it. */
export async function deliver(store: Store, all: boolean): Promise<Outcome[]> {
  const waiting = await store.change((state) =>
    Object.entries(state.answers ?? {}).filter(([, each]) => state.consent && each.fate === "queued" && (all || (each.next ?? 0) <= Date.now())),
  );
  const outcomes: Outcome[] = [];
  for (const [question, kept] of waiting) {
    const { fate, kind, wait = 0 } = await posted(kept);
    const mine = await store.change((state) => {
      const found = state.answers?.[question];
      if (found?.fate !== "queued" || found.frame !== kept.frame) return found; // meanwhile sent by another tab, or forgotten
      if (kind !== undefined) found.kind = kind;
      else delete found.kind;
      if (fate) found.fate = fate;
      else {
        found.tries = (found.tries ?? 0) + 1;
        const backoff = Math.min(LONGEST, FIRST * 2 ** found.tries) * (0.5 + chance() / 2);
        found.next = Date.now() + Math.max(wait, backoff);
      }
      return found;
    });
    if (mine) outcomes.push({ question, fate: mine.fate, ...(mine.kind === undefined ? {} : { kind: mine.kind }) });
  }
  return outcomes;
}

// Sending: the same bytes until the collector itself says that they arrived, or that they never can.

import { chance, unhex } from "./bytes.js";
import type { Kept, Store } from "./store.js";

const FIRST = 5_000; // milliseconds until a second try; then twice as long each time
const LONGEST = 3_600_000;
// what an administrator can put right, so that the report waits: a key, an address, an origin
const SETTINGS = [
  "no-key",
  "unknown-key",
  "wrong-key",
  "wrong-origin",
  "not-found",
  "wrong-method",
  "unsupported-type",
  "not-http",
];

/** What the collector said: where the answer is then, why, and how long to wait at least. */
interface Said {
  fate?: Kept["fate"];
  kind?: string;
  wait?: number;
}

async function asked(
  url: string,
  options: RequestInit,
): Promise<{ status: number; said: Record<string, unknown>; wait: number } | undefined> {
  try {
    const response = await fetch(url, { ...options, credentials: "omit", redirect: "error" });
    const said = (await response.json()) as Record<string, unknown>;
    return { status: response.status, said, wait: 1000 * Number(response.headers.get("retry-after") ?? 0) || 0 };
  } catch {
    return undefined; // no network, a page of somebody else's, half an answer
  }
}

/** Whether an error has the one shape that a collector's errors have. */
const isRefusal = (status: number, said: Record<string, unknown>): boolean =>
  typeof said.kind === "string" && said.code === status;

async function posted({ url, frame }: Kept): Promise<Said> {
  const found = await asked(`${url}/v1/reports`, {
    method: "POST",
    body: unhex(frame!),
    headers: { "content-type": "text/plain" }, // a browser asks nobody before it sends this
    keepalive: frame!.length < 100_000,
  });
  if (!found) return {};
  const { status, said, wait } = found;
  if (status === 200 && said.accepted === 1) return { fate: "sent" };
  if (!isRefusal(status, said)) return {};
  const kind = said.kind as string;
  if (status >= 500 || status === 429 || status === 408 || kind === "in-future" || SETTINGS.includes(kind))
    return { kind, wait };
  return { fate: kind === "too-old" ? "expired" : "refused", kind };
}

async function deleted({ url, id, hour }: Kept, key: string): Promise<Said> {
  const found = await asked(`${url}/v1/reports/${id}?bucket=${hour}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${key}` },
  });
  if (!found) return {};
  const { status, said, wait } = found;
  if (status === 200 && typeof said.outcome === "string") return { fate: "expired", kind: said.outcome };
  if (isRefusal(status, said) && (said.kind === "no-such-report" || said.kind === "too-old"))
    return { fate: "expired", kind: "deleted" };
  return { wait };
}

/** Send the report of this name if it is due, or in any case if `now`; or ask for its deletion. Return what is kept. */
export async function deliver(store: Store, name: string, key: string, now: boolean): Promise<Kept | undefined> {
  const due = await store.change((state) => {
    const found = state.answers?.[name];
    if (!found || (!now && (found.next ?? 0) > Date.now())) return undefined;
    if (found.fate === "withdrawing") return { ...found };
    if (found.fate !== "queued" || !state.consents?.[name]) return undefined;
    found.tried = true; // before it leaves
    return { ...found };
  });
  const said = due && (await (due.fate === "queued" ? posted(due) : deleted(due, key)));
  return store.change((state) => {
    const found = state.answers?.[name];
    // meanwhile it was sent by another tab, or taken back
    if (!found || !due || !said || found.fate !== due.fate) return found;
    if (said.kind === undefined) delete found.kind;
    else found.kind = said.kind;
    if (said.fate) found.fate = said.fate;
    else {
      found.failures = (found.failures ?? 0) + 1;
      const backoff = Math.min(LONGEST, FIRST * 2 ** found.failures) * (0.5 + chance() / 2);
      found.next = Date.now() + Math.max(said.wait ?? 0, backoff);
    }
    return found;
  });
}

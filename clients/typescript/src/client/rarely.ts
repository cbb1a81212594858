// What a page seldom calls: the plain words about an answer, and taking it back.

import type { Kept, Store } from "./store.js";

const SENT: Partial<Record<Kept["fate"], string>> = { queued: "A report waits to be sent", sent: "A report was sent" };

/** Say in plain words what was sent, and what anyone can conclude from it. */
export function explained(kept: Kept | undefined): string {
  if (!kept?.frame) return "Nothing was answered on this device, and nothing was sent.";
  const odds = Math.exp(kept.epsilon);
  const sure = Math.round((100 * odds) / (1 + odds));
  const bytes = kept.frame.length / 2 - 76;
  return (
    `${SENT[kept.fate] ?? "A report was made, but not counted"}: ${bytes} randomised byte${bytes === 1 ? "" : "s"} under a random name. ` +
    `No answer makes it more than ${odds.toPrecision(2)} times as likely as another. ` +
    `Whoever thought your answer as likely as not can be at most ${sure}% sure after seeing it.`
  );
}

/** Forget an answer, and ask the collector to delete its report while it is not counted. */
export async function forgotten(store: Store, name: string, key: string): Promise<void> {
  const kept = await store.change((state) => {
    state.consent = false;
    const mine = state.answers?.[name];
    const copy = mine && { ...mine };
    if (mine?.frame) Object.assign(mine, { fate: "expired", kind: "forgotten", frame: mine.frame.slice(0, 152) }); // the payload goes
    else if (mine) delete state.answers![name];
    return copy;
  });
  if (!kept?.id) return;
  const { url, id, hour } = kept;
  await fetch(`${url}/v1/reports/${id}?bucket=${hour}`, { method: "DELETE", headers: { authorization: `Bearer ${key}` } }).catch(() => undefined);
}

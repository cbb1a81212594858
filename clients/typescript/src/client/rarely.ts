// What a page seldom calls: the plain words about an answer, and taking it back.

import type { Kept, Store } from "./store.js";

const ENDED: Record<string, string> = {
  forgotten: "You took your answer back before it was sent. Nothing left this device.",
  deleted: "You took your answer back, and the report was deleted before it was counted.",
  counted: "You took your answer back after it was counted. A count cannot be undone, and nobody can find you in it.",
};
const WHERE: Partial<Record<Kept["fate"], string>> = {
  queued: "A report waits to be sent",
  sent: "A report was sent",
  refused: "A report was made, which the collection did not take",
  expired: "A report was made, which came too late to be counted",
};

/** A bound, rounded up: what is "at most" this much must not be more. */
export function bound(number: number, digits = 2): string {
  const scale = 10 ** Math.max(0, digits - Math.ceil(Math.log10(number)));
  return (Math.ceil(number * scale - 1e-9) / scale).toLocaleString("en");
}

/** Say in plain words what was sent, and what anyone can conclude from it. */
export function explained(kept: Kept | undefined): string {
  if (kept?.frame === undefined) return "Nothing was answered on this device, and nothing was sent.";
  if (kept.fate === "withdrawing")
    return "You took your answer back. The collection is being asked to delete the report.";
  const ended = ENDED[kept.kind ?? ""];
  if (ended && kept.fate === "expired") return ended;
  const odds = Math.exp(kept.epsilon);
  const bytes = kept.bytes ?? 0;
  return (
    `${WHERE[kept.fate] ?? "A report is being made"}: ` +
    `${bytes} randomised byte${bytes === 1 ? "" : "s"} under a random name. ` +
    `No answer makes it more than ${bound(odds, 3)} times as likely as another. ` +
    `Whoever thought your answer as likely as not can be at most ${bound((100 * odds) / (1 + odds), 3)}% sure ` +
    "after seeing it."
  );
}

/** Take an answer back: its report goes at once, and if it may have left the device, the collector is to delete it. */
export async function forgotten(store: Store, name: string): Promise<void> {
  await store.change((state) => {
    (state.consents ??= {})[name] = false;
    const mine = state.answers?.[name];
    if (mine?.frame === undefined) {
      if (mine) delete state.answers![name];
    } else if (mine.fate !== "withdrawing" && mine.fate !== "expired" && mine.fate !== "refused") {
      const left = mine.tried || mine.fate === "sent";
      Object.assign(
        mine,
        { frame: "", next: 0, failures: 0 },
        left ? { fate: "withdrawing" } : { fate: "expired", kind: "forgotten" },
      );
    }
  });
}

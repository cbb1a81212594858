// What is known of an answer, in plain words: what was sent, and what anyone can conclude from it.

import type { Kept } from "./store.js";

const GONE =
  "You took your answer back. The report can no longer be found: it may have been counted, which cannot be undone.";
const TAKEN_BACK: Record<string, string> = {
  forgotten: "You took your answer back before it was sent. Nothing left this device.",
  untaken: "You took your answer back. The collection had not taken the report.",
  deleted: "You took your answer back before it was counted. If the report had arrived, it is deleted.",
  counted: "You took your answer back after it was counted. A count cannot be undone, and nobody can find you in it.",
};
const WHERE: Partial<Record<Kept["fate"], string>> = {
  queued: "A report waits to be sent.",
  sent: "A report was sent, and the collection has it.",
  refused: "A report was made, and the collection says that it does not take it.",
  expired: "A report was made, and the collection says that it came too late.",
};
const DOUBT = "An earlier attempt to send it was never answered, so that it may have been counted.";
const SHOWN = 32; // bytes of a report

/** A bound in so many digits, rounded up: what is "at most" this much must not be more. */
export function bound(number: number, digits: number): string {
  const scale = 10 ** Math.max(0, digits - Math.ceil(Math.log10(number)));
  return (Math.ceil(number * scale) / scale).toLocaleString("en", { maximumFractionDigits: 12 });
}

/** How sure somebody can be at most, in percent: short of certainty as long as it is. */
function surety(chance: number): string {
  for (let digits = 3; digits < 9; digits++) {
    const text = bound(100 * chance, digits);
    if (text !== "100") return text;
  }
  return "100";
}

/** The start of a bucket, given in hours since 1970: a date, with the hour if it is not midnight. */
function moment(hour: number): string {
  const text = new Date(hour * 3_600_000).toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : `${text.slice(0, 13)}:00Z`;
}

/** All that a frame holds. */
function contents({ frame = "", bytes = 0, id, hour = 0, fingerprint }: Kept): string {
  const payload = frame.slice(frame.length - 2 * bytes).slice(0, 2 * SHOWN);
  const segments = frame.slice(2 * 76, frame.length - 2 * bytes);
  return (
    `What it holds: ${bytes} randomised byte${bytes === 1 ? "" : "s"}, ${payload}${bytes > SHOWN ? "..." : ""}; ` +
    `the random number ${id}, which keeps it from being counted twice; the time, no finer than ${moment(hour)}; ` +
    `${segments && `the places of this device's segments, ${segments}; `}` +
    `the fingerprint of the question, ${fingerprint.slice(0, 12)}...; and the collection's key. ` +
    "The collector also sees that this device takes part, and the network address that it sends from."
  );
}

/** What may be concluded from a report. */
function conclusion(epsilon: number): string {
  const odds = Math.exp(epsilon);
  const sure = epsilon > 500 ? 1 : odds / (1 + odds);
  return (
    "The answer itself is neither sent nor kept. " +
    `No answer makes this report more than ${bound(odds, 3)} times as likely as another. ` +
    `Whoever thought your answer as likely as not can be at most ${surety(sure)}% sure after seeing it.`
  );
}

/** Say in plain words what was sent, unless that stands beside it, and what anyone can conclude from it. */
export function explained(kept: Kept | undefined, beside = false): string {
  if (kept?.frame === undefined) return "Nothing was answered on this device, and nothing was sent.";
  const { fate, kind, unanswered, epsilon } = kept;
  if (fate === "withdrawing")
    return "You took your answer back. The collection is being asked to delete the report.";
  if (!kept.frame) return TAKEN_BACK[kind ?? ""] ?? GONE;
  const ended = fate === "refused" || fate === "expired";
  const doubt = ended ? [unanswered ? DOUBT : "It was not counted."] : [];
  return [WHERE[fate], ...doubt, ...(beside ? [] : [contents(kept)]), conclusion(epsilon)].join(" ");
}

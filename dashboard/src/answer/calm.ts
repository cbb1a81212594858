/** What a person is told when something does not work: one calm sentence; developers find the error in the console. */

/** Why this device made no report: the codes of the client's errors. */
const CODES: Record<string, string> = {
  spec: "The question is damaged, so this page cannot ask it. Nothing was sent.",
  fingerprint: "The question has changed since this page was made. Nothing was sent.",
  mechanism: "This page is older than the question. Please reload it; nothing was sent.",
  limit: "The question is larger than this page can handle. Nothing was sent.",
  value: "The question does not allow this answer. Please choose another; nothing was sent.",
  crypto: "This page has no safe source of randomness, so it makes no report. It must be opened by https.",
  key: "The link to this page is incomplete. Nothing was sent.",
  consent: "Nothing happens until you agree.",
  cap: "You have given as many answers as this device allows. Nothing was sent.",
  segments: "The groups of this question have changed. Please reload the page; nothing was sent.",
  storage: "This browser does not let the page keep anything, so it cannot promise to ask you only once. No report is made.",
  form: "The question is not signed by the people this page trusts. Nothing was sent.",
  clock: "One of the clocks is wrong: that of this device, or that of the collection. Please try again later; nothing was sent.",
  newer: "This page is older than the question. Please reload it; nothing was sent.",
  unknown: "There is no question at this link: it may be incomplete, or older than the collection. Nothing was sent.",
  closed: "This question is closed. Thank you all the same; nothing was sent.",
  offline: "The collection cannot be reached right now. Please try again later; nothing was sent.",
};

const LINK = "The link to this page is no longer good, and nothing was counted. Your report waits in case that is put right.";
const MANY = "Many people are answering at once. Your report waits its turn.";
const PAUSE = "The collection cannot take reports right now. Yours waits on this device.";

/** Why a report waits: the reasons for which the collector refuses it for now. */
const WAITING: Record<string, string> = {
  "no-key": LINK,
  "unknown-key": LINK,
  "wrong-key": LINK,
  "wrong-origin": "The collection does not take reports from the address of this page. Yours waits in case that is put right.",
  "in-future": "The clock of this device seems to be wrong. Your report waits.",
  rate: MANY,
  busy: MANY,
  slow: "The connection is slow. Your report waits, and is tried again.",
};

/** Why a report was not taken: the reasons that do not pass. */
const FINAL: Record<string, string> = {
  closed: "The question was closed before your report arrived. It was not counted.",
  expired: "The question was replaced by a newer one before your report arrived. It was not counted.",
  "unknown-spec": "The collection does not ask this question any more. Your report was not counted.",
  "too-old": "The report came too late to be counted.",
  "bad-segments": "The groups of this question have changed. Your report was not counted.",
};

/** Of an error on this device. */
export function calm(error: unknown): string {
  console.warn(error);
  return CODES[(error as { code?: string }).code ?? ""] ?? "Something in this page did not work. Nothing was sent.";
}

/** Of the collector's refusal: whether the report waits, or will never be taken. */
export function refusal(kind: string, waits: boolean): string {
  if (waits) return WAITING[kind] ?? PAUSE;
  return FINAL[kind] ?? "The collection cannot read this report, and did not count it. Trying again would not help.";
}

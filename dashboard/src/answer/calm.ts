/** What a person is told when something does not work: one calm sentence; developers find the error in the console. */

const SENTENCES: Record<string, string> = {
  offline: "The collection cannot be reached right now. Please try again later; nothing was sent.",
  storage: "This browser does not let the page keep anything, so it cannot promise to ask you only once. Nothing was sent.",
  closed: "This question is closed. Thank you all the same; nothing was sent.",
  cap: "You have given as many answers as this device allows. Nothing was sent.",
  consent: "Nothing happens until you agree.",
  crypto: "This page has no safe source of randomness, so it makes no report. It must be opened by https.",
  mechanism: "This page is older than the question. Please reload it; nothing was sent.",
  newer: "This page is older than the question. Please reload it; nothing was sent.",
  form: "The question is not signed by the people this page trusts. Nothing was sent.",
  fingerprint: "The question has changed since this page was made. Nothing was sent.",
  key: "The link to this page is incomplete. Nothing was sent.",
  "no-key": "The link to this page is no longer good. Nothing was counted.",
  "unknown-key": "The link to this page is no longer good. Nothing was counted.",
  "wrong-key": "The link to this page is not good. Nothing was counted.",
  "too-old": "The report came too late to be counted.",
  "in-future": "The clock of this device seems to be wrong. The report waits.",
  rate: "Many people are answering at once. The report waits its turn.",
  busy: "Many people are answering at once. The report waits its turn.",
  clock: "One of the clocks is wrong: that of this device, or that of the collection. Please try again later; nothing was sent.",
};

export function calm(error: unknown): string {
  const { code, kind } = error as { code?: string; kind?: string };
  if (error instanceof Error) console.warn(error);
  return SENTENCES[code ?? kind ?? ""] ?? "Something did not work. Nothing was lost; please try again later.";
}

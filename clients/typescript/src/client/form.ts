// Forms: what a collector says of a collection, signed, with a date after which it must be asked again.

import { members, whole, type Members } from "../core/check.js";
import { refuse } from "../core/errors.js";
import { hex, unhex } from "../core/hex.js";
import { sha256 } from "../randomness/keystream.js";

/** A segment: a small public set of labels by which reports are counted apart. */
export interface Segment {
  readonly name: string;
  readonly labels: readonly string[];
}

/** All that a device needs to answer. */
export interface Form {
  readonly collection: string;
  readonly open: boolean;
  /** Specs, newest first. */
  readonly specs: readonly unknown[];
  readonly bucket: string;
  readonly segments: readonly Segment[];
  /** Hours within which a report must arrive. */
  readonly window: number;
  readonly issued_ids: boolean;
  /** Seconds since 1970. */
  readonly issued: number;
  readonly expires: number;
}

const MEMBERS = "deniable_form collection open specs bucket segments window issued_ids issued expires".split(" ");

/**
 * Check the signature of a document and read its form, which must be that of this collection and not past its date.
 *
 * `pinned` is the SHA-256 of the only key that is trusted.
 */
export async function formOf(document: unknown, collection: string, pinned?: string): Promise<Form> {
  const { form: said, key, signature } = Object(document) as Record<string, unknown>;
  const raw = unhex(String(key));
  const curve = { name: "ECDSA", namedCurve: "P-256" };
  const good = await crypto.subtle
    .importKey("raw", raw, curve, false, ["verify"])
    .then((known) =>
      crypto.subtle.verify(
        { name: "ECDSA", hash: "SHA-256" },
        known,
        unhex(String(signature)),
        new TextEncoder().encode(String(said)),
      ),
    )
    .catch(() => false);
  if (!good) refuse("form", "the form is not signed by the key it names");
  if (pinned !== undefined && hex(await sha256(raw)) !== pinned)
    refuse("form", "the form is signed by a key other than the pinned one");
  const read = parsed(String(said));
  // first of all, since a newer layout may have other members
  if (read.deniable_form !== 1) refuse("newer", "the form has a layout that this program does not know");
  const found = members("form", read, MEMBERS);
  for (const name of ["window", "issued", "expires"]) whole(name, found[name], 0, 2 ** 40);
  if (found.collection !== collection) refuse("form", "the form is that of another collection");
  if (
    typeof found.open !== "boolean" ||
    !Array.isArray(found.specs) ||
    !found.specs.length ||
    !Array.isArray(found.segments)
  )
    refuse("form", "the form has a member of the wrong type");
  const form = found as Members & Form;
  if (!isFresh(form)) refuse("clock", "the form is past its date: this device's clock, or the collector's, is wrong");
  return form;
}

/** Whether a form is not past its date by this device's clock. */
export const isFresh = ({ expires }: Form): boolean => Date.now() / 1000 < expires;

function parsed(text: string): Members {
  try {
    return Object(JSON.parse(text)) as Members;
  } catch {
    return refuse("form", "the form is not JSON");
  }
}

const HOURS = new Map([
  ["hour", 1],
  ["day", 24],
  ["none", 24], // by which ids are remembered, and nothing is counted
  ["week", 168],
]);

/** The start of the bucket that contains this time (in seconds): hours since 1970. Weeks begin on Monday. */
export function bucketAt(unit: string, seconds: number): number {
  const length = HOURS.get(unit) ?? refuse("newer", "the form has a unit of time that this program does not know");
  const first = unit === "week" ? 96 : 0;
  const hour = Math.floor(seconds / 3600);
  return hour - ((((hour - first) % length) + length) % length);
}

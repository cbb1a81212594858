import { randomBytes } from "../randomness/keystream.js";
import { ID_BYTES } from "./question.js";

/** A fresh id for a report: random bytes, which say nothing of who sends it or what. */
export function newId(): Uint8Array<ArrayBuffer> {
  return randomBytes(ID_BYTES);
}

/** What went wrong, in one word that programs can test. */
export type Code =
  | "spec" // the document is damaged, foreign, or its numbers do not follow from one another
  | "fingerprint" // a good document, but not the one that was agreed on
  | "mechanism" // a mechanism, or a version of one, that this program does not have
  | "limit" // the document would cost more than a device should spend on it
  | "value" // the answer is not among those the question allows
  | "crypto" // there is no secure source of random numbers
  | "url" // the collector's address is not one
  | "key" // the write key is not one
  | "setting" // the client is set up wrongly: no mechanisms, or a cap or delay that is not one
  | "consent" // the person has not agreed
  | "cap" // the answer would spend more than this device may
  | "segments" // this device's labels are not those of the collection
  | "storage" // what was answered cannot be kept, so nothing is answered
  | "form" // what the collector says of the collection is not signed as it should be
  | "clock" // what the collector says is past its date, so that one of the clocks is wrong
  | "newer" // the collector speaks a later version
  | "unknown" // the collector has no collection of this name
  | "closed" // the collection takes no more reports
  | "offline"; // the collector does not answer

/** The one error this library throws on purpose. Its message never quotes a person's value. */
export class DeniableError extends Error {
  override readonly name = "DeniableError";

  constructor(
    readonly code: Code,
    message: string,
  ) {
    super(message);
  }
}

/** Throw a `DeniableError`. */
export function refuse(code: Code, message: string): never {
  throw new DeniableError(code, message);
}

// Bytes as hexadecimal text, which every store can keep; and chance for moments in time.

import { randomBytes } from "../randomness/keystream.js";

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes as lower-case hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of hexadecimal digits. */
export function unhex(text: string): Bytes {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** A random number from 0 to 1, for the moment of sending. */
export function chance(): number {
  return new DataView(randomBytes(4).buffer).getUint32(0) / 2 ** 32;
}

// Words from AES-256-CTR by WebCrypto, under a key from the operating system.
//
// Stream s of a key is the keystream whose first counter block is s followed by zero, each as 8 big-endian bytes; word
// j is its bytes 8j .. 8j+7, little-endian.

import { refuse } from "../core/errors.js";

/** The bytes of a key. */
export const KEY_BYTES = 32;

type Bytes = Uint8Array<ArrayBuffer>;

function provider(): Crypto {
  const found = globalThis.crypto as Crypto | undefined;
  if (!found?.subtle || !found.getRandomValues)
    refuse("crypto", "WebCrypto is missing, so nothing can be sent. Serve the page by https or from localhost");
  return found;
}

/** Random bytes from the operating system; a failure of it is an error. */
export function randomBytes(count: number): Bytes {
  return provider().getRandomValues(new Uint8Array(count));
}

/** SHA-256 of some bytes. */
export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await provider().subtle.digest("SHA-256", bytes));
}

/** The streams of one key. */
export class Keystream {
  readonly #key: CryptoKey;

  private constructor(key: CryptoKey) {
    this.#key = key;
  }

  /** The streams of a given key, which is for tests; without one, of a fresh key from the operating system. */
  static async of(key: Bytes = randomBytes(KEY_BYTES)): Promise<Keystream> {
    const kept = await provider().subtle.importKey("raw", key, "AES-CTR", false, ["encrypt"]);
    return new Keystream(kept);
  }

  /** Some words of a stream, from its word `first` on, 8 bytes each. */
  async words(stream: number, first: number, count: number): Promise<DataView> {
    const counter = new DataView(new ArrayBuffer(16));
    counter.setBigUint64(0, BigInt(stream));
    counter.setBigUint64(8, BigInt(first) >> 1n);
    const skipped = 8 * (first % 2); // a block holds two words
    const zeros = new Uint8Array(skipped + 8 * count);
    const bytes = await provider().subtle.encrypt({ name: "AES-CTR", counter, length: 64 }, this.#key, zeros);
    return new DataView(bytes, skipped);
  }
}

// The frame of one report, as docs/wire.md lays it out: what is sent, and kept until it has arrived.

type Bytes = Uint8Array<ArrayBuffer>;

/** What stands in a frame. */
export interface Parts {
  /** 16 bytes: the write key. A beacon can set no header, so it travels here. */
  readonly key: Uint8Array;
  /** 32 bytes: the fingerprint. */
  readonly fingerprint: Uint8Array;
  /** The start of the report's bucket of time, in hours since 1970. */
  readonly hour: number;
  /** 16 bytes: the report's id. */
  readonly id: Uint8Array;
  /** For each segment, the place of its label. */
  readonly segments: readonly number[];
  readonly payload: Uint8Array;
}

/** Lay the parts of one report end to end. */
export function framed({ key, fingerprint, hour, id, segments, payload }: Parts): Bytes {
  const frame = new Uint8Array(76 + segments.length + payload.length);
  frame.set([68, 78, 66, 76, 82, 1, segments.length]); // DNBLR, the version, the number of segments
  frame.set(key, 8);
  frame.set(fingerprint, 24);
  new DataView(frame.buffer).setUint32(56, hour, true);
  frame.set(id, 60);
  frame.set(segments, 76);
  frame.set(payload, 76 + segments.length);
  return frame;
}

/** The bytes of a write key, from its text. */
export function secretOf(text: string): Bytes | undefined {
  const found = /^dnw_([\w-]{22})$/.exec(text);
  if (!found) return undefined;
  return Uint8Array.from(atob(`${found[1]!.replace(/-/g, "+").replace(/_/g, "/")}==`), (letter) =>
    letter.charCodeAt(0),
  );
}

// BLAKE2s (RFC 7693) with a key, for hash functions that everybody shares: nothing here is secret.

const IV = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const ORDER = [
  "0123456789abcdef",
  "ea489fd61c02b753",
  "b8c052fdae367194",
  "7931dcbe265a40f8",
  "905724afe1bc683d",
  "2c6a0b834d75fe19",
  "c51fed4a0763928b",
  "db7ec13950f4862a",
  "6fe9b308c2d714a5",
  "a2847615fb9e3cd0",
];
// columns, then diagonals
const QUARTERS = ["048c", "159d", "26ae", "37bf", "05af", "16bc", "278d", "349e"];
const places = (text: string): number[] => Array.from(text, (digit) => parseInt(digit, 16));

/** The digest of some bytes under a key of at most 32 bytes. */
export function blake2s(data: Uint8Array, key: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const keyed = key.length ? 64 : 0;
  const padded = new Uint8Array(Math.max(64, Math.ceil((keyed + data.length) / 64) * 64));
  padded.set(key);
  padded.set(data, keyed);
  const message = new DataView(padded.buffer);
  const state = Uint32Array.from(IV);
  state[0]! ^= 0x01010000 | (key.length << 8) | size;
  for (let start = 0; start < padded.length; start += 64) {
    const last = start + 64 === padded.length;
    compress(state, message, start, last ? keyed + data.length : start + 64, last);
  }
  const found = new DataView(new ArrayBuffer(32));
  state.forEach((part, i) => found.setUint32(4 * i, part, true));
  return new Uint8Array(found.buffer.slice(0, size));
}

function compress(state: Uint32Array, message: DataView, start: number, count: number, last: boolean): void {
  const v = Uint32Array.from([...state, ...IV]);
  v[12]! ^= count;
  v[14]! ^= -last;
  const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by));
  for (const order of ORDER.map(places))
    QUARTERS.map(places).forEach(([a, b, c, d], quarter) => {
      for (const half of [0, 1]) {
        v[a!]! += v[b!]! + message.getUint32(start + 4 * order[2 * quarter + half]!, true);
        v[d!] = turned(v[d!]! ^ v[a!]!, half ? 8 : 16);
        v[c!]! += v[d!]!;
        v[b!] = turned(v[b!]! ^ v[c!]!, half ? 7 : 12);
      }
    });
  for (let i = 0; i < 8; i++) state[i]! ^= v[i]! ^ v[i + 8]!;
}

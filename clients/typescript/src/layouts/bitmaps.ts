// Reports of one bit per value: value v is bit v mod 8 of byte v div 8.

/** The 32-bit numbers that hold `values` bits in whole words of 64. */
export function halvesOf(values: number): number {
  return 2 * Math.ceil(values / 64);
}

/** Set the bit of one value in `row`, to 1 or 0, in a pass that writes all numbers alike. */
export function put(row: Uint32Array, value: number, set: number): void {
  for (let i = 0; i < row.length; i++) {
    const bit = -+(i === value >>> 5) & (1 << (value & 31));
    row[i] = (row[i]! & ~bit) | (bit & -set);
  }
}

/** The bytes of the first `values` bits. */
export function bitmapBytes(row: Uint32Array, values: number): Uint8Array<ArrayBuffer> {
  const bytes = new DataView(new ArrayBuffer(4 * row.length));
  row.forEach((half, i) => bytes.setUint32(4 * i, half, true));
  const found = new Uint8Array(bytes.buffer, 0, (values + 7) >> 3).slice();
  const rest = values & 7;
  if (rest) found[found.length - 1]! &= (1 << rest) - 1;
  return found;
}

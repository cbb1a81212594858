// Recursive Hadamard response: a block and one sign of a public row of a Hadamard matrix.

import { whole } from "../core/check.js";
import { bitLength } from "../core/bounds.js";
import type { Mechanism } from "../core/mechanism.js";
import { publicCoin } from "../hashing/publicCoins.js";
import { parity } from "../numbers.js";

/** Recursive Hadamard response. */
export const rhr: Mechanism = {
  name: "rhr",
  version: 1,
  parameters: ["bits", "salt"],
  build(setting) {
    const { k } = setting.domain;
    const bits = whole("bits", setting.parameters.bits, 1, bitLength(k - 1));
    const shift = bits - 1;
    // the least power of two that numbers a block, and at least 2
    const length = 2 ** Math.max(1, bitLength(Math.ceil(k / 2 ** shift) - 1));
    return publicCoin(setting, length - 1, 2 ** bits, (index, row) => {
      const block = index & (2 ** shift - 1);
      return 2 * block + parity((index >>> shift) & (row + 1));
    });
  },
};

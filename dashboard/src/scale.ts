/** From shares to places on an axis, linear or logarithmic, with round ticks. */

import { percent } from "./format.ts";

export interface Scale {
  readonly at: (share: number) => number;
  readonly ticks: readonly { share: number; text: string }[];
}

export function linear(low: number, high: number, from: number, to: number, most = 6): Scale {
  if (!(high > low)) high = low + 1e-6;
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10);
  const places = Math.min(6, Math.max(0, -Math.floor(Math.log10(100 * step) + 1e-9)));
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    ticks.push({ share: i * step, text: percent(i * step, places) });
  return { at: (share) => from + ((share - low) / (high - low)) * (to - from), ticks };
}

/** Shares below the floor, and those not above zero, lie on the floor: the axis says "≤". */
export function logarithmic(floor: number, high: number, from: number, to: number): Scale {
  floor = 10 ** Math.floor(Math.log10(Math.max(floor, 1e-7)));
  high = Math.max(high, floor * 10);
  const width = Math.log10(high / floor);
  const ticks = [];
  for (let share = floor; share <= high * 1.0001; share *= 10) {
    const text = percent(share, Math.max(0, Math.round(-Math.log10(share) - 2)));
    ticks.push({ share, text: share === floor ? `\u2264\u2009${text}` : text });
  }
  const at = (share: number): number =>
    from + (Math.log10(Math.max(share, floor) / floor) / width) * (to - from);
  return { at, ticks };
}

/** Draws the shares of a few values over time with their bands, and the small bars of a card. */

import { s } from "./dom.ts";
import { linear } from "./scale.ts";
import { token } from "./theme.ts";

export interface Line {
  readonly label: string;
  readonly frequency: readonly (number | null)[];
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

const DASHES = ["", "7 4", "2 4", "10 3 2 3"];

export function trend(times: readonly string[], lines: readonly Line[], width: number): SVGSVGElement {
  const height = 260;
  const [left, right, top, bottom] = [52, width - 12, 12, height - 28];
  const all = lines.flatMap((line) => [...line.low, ...line.high]).filter((each): each is number => each !== null);
  const y = linear(Math.min(0, ...all), Math.max(...all, 1e-6), bottom, top, 5);
  const x = (place: number): number => (times.length > 1 ? left + (place / (times.length - 1)) * (right - left) : (left + right) / 2);
  const names = lines.map((line) => line.label).join(", ");
  const picture = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": `Trend of ${names}, ${times.length} buckets of time; the table below has the numbers`,
    xmlns: "http://www.w3.org/2000/svg",
    "font-size": 11,
    "font-family": "system-ui, sans-serif",
  });
  for (const tick of y.ticks)
    picture.append(
      s("line", { x1: left, x2: right, y1: y.at(tick.share), y2: y.at(tick.share), stroke: token("line"), "stroke-width": 0.75 }),
      s("text", { x: left - 8, y: y.at(tick.share) + 4, fill: token("soft"), "text-anchor": "end" }, tick.text),
    );
  const every = Math.ceil(times.length / Math.max(2, Math.floor((right - left) / 90)));
  times.forEach((time, place) => {
    if (place % every === 0) picture.append(s("text", { x: x(place), y: height - 8, fill: token("soft"), "text-anchor": place === times.length - 1 ? "end" : "middle" }, time));
  });
  lines.forEach((line, number) => {
    const colour = token(`group-${number}`);
    for (const run of runs(line)) {
      const upper = run.map((place) => `${x(place)} ${y.at(line.high[place]!)}`);
      const lower = [...run].reverse().map((place) => `${x(place)} ${y.at(line.low[place]!)}`);
      picture.append(s("path", { d: `M${[...upper, ...lower].join("L")}Z`, fill: colour, "fill-opacity": 0.16 }));
      const points = run.map((place) => `${x(place)} ${y.at(line.frequency[place]!)}`);
      picture.append(
        s("path", { d: `M${points.join("L")}`, fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": DASHES[number] ?? "" }),
        ...run.map((place) => s("circle", { cx: x(place), cy: y.at(line.frequency[place]!), r: 3, fill: colour })),
      );
    }
  });
  return picture;
}

/** Stretches of time for which there is an answer: a gap stays a gap. */
function runs(line: Line): number[][] {
  const found: number[][] = [];
  let run: number[] = [];
  line.frequency.forEach((share, place) => {
    if (share !== null) run.push(place);
    else if (run.length) {
      found.push(run);
      run = [];
    }
  });
  if (run.length) found.push(run);
  return found;
}

export function sparkline(counts: readonly number[], label: string): SVGSVGElement {
  const [width, height] = [260, 40];
  const most = Math.max(1, ...counts);
  const step = width / Math.max(1, counts.length);
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, preserveAspectRatio: "none", height },
    counts.map((count, place) => {
      const tall = Math.max(count > 0 ? 2 : 0.5, (count / most) * height);
      return s("rect", { x: place * step, y: height - tall, width: Math.max(1, step - 1.5), height: tall, fill: token("accent"), "fill-opacity": 0.7, rx: 1 });
    }),
  );
}

/** Draws the shares of a few values over time with their bands, and the small bars of a card. */

import { s } from "./dom.ts";
import { linear } from "./scale.ts";
import { token } from "./theme.ts";
import { momentOf } from "./times.ts";

interface Point {
  readonly bucket: number; // hours since 1970
  readonly frequency: number | null;
  readonly low: number | null;
  readonly high: number | null;
}
export interface Line {
  readonly label: string;
  readonly buckets: readonly Point[];
}

const DASHES = ["", "7 4", "2 4", "10 3 2 3"];
const ROOM = 90; // pixels for a date

/** `hours` is the length of a bucket: places are those of time, and a bucket without reports leaves a gap. */
export function trend(lines: readonly Line[], hours: number, width: number): SVGSVGElement {
  const height = 260;
  const [left, right, top, bottom] = [52, width - 12, 12, height - 28];
  const all = lines.flatMap((line) => line.buckets.flatMap(({ low, high }) => [low, high])).filter((each): each is number => each !== null);
  const y = linear(Math.min(0, ...all), Math.max(...all, 1e-6), bottom, top, 5);
  const times = lines[0]?.buckets.map(({ bucket }) => bucket) ?? [];
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const x = (bucket: number): number => (last > first ? left + ((bucket - first) / (last - first)) * (right - left) : (left + right) / 2);
  const names = lines.map((line) => line.label).join(", ");
  const picture = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": `Trend of ${names} from ${momentOf(first)} to ${momentOf(last)}; the table below has the numbers`,
    xmlns: "http://www.w3.org/2000/svg",
    "font-size": 11,
    "font-family": "system-ui, sans-serif",
  });
  for (const tick of y.ticks)
    picture.append(
      s("line", { x1: left, x2: right, y1: y.at(tick.share), y2: y.at(tick.share), stroke: token("line"), "stroke-width": 0.75 }),
      s("text", { x: left - 8, y: y.at(tick.share) + 4, fill: token("soft"), "text-anchor": "end" }, tick.text),
    );
  for (const bucket of dates(first, last, hours, Math.max(1, Math.floor((right - left) / ROOM) - 1)))
    picture.append(s("text", { x: x(bucket), y: height - 8, fill: token("soft"), "text-anchor": bucket === last ? "end" : "middle" }, momentOf(bucket)));
  lines.forEach((line, number) => {
    const colour = token(`group-${number}`);
    for (const run of runs(line.buckets, hours)) {
      const upper = run.map((point) => `${x(point.bucket)} ${y.at(point.high!)}`);
      const lower = [...run].reverse().map((point) => `${x(point.bucket)} ${y.at(point.low!)}`);
      picture.append(s("path", { d: `M${[...upper, ...lower].join("L")}Z`, fill: colour, "fill-opacity": 0.16 }));
      if (run.length === 1) // a band without width would not show
        picture.append(s("path", { d: `M${x(run[0]!.bucket)} ${y.at(run[0]!.low!)}V${y.at(run[0]!.high!)}`, stroke: colour, "stroke-width": 6, "stroke-opacity": 0.25 }));
      const points = run.map((point) => `${x(point.bucket)} ${y.at(point.frequency!)}`);
      picture.append(
        s("path", { d: `M${points.join("L")}`, fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": DASHES[number] ?? "" }),
        ...run.map((point) => s("circle", { cx: x(point.bucket), cy: y.at(point.frequency!), r: 3, fill: colour })),
      );
    }
  });
  return picture;
}

/** A sample of a line, for a legend. */
export const lineSample = (number: number): SVGElement =>
  s("path", { d: "M0 6H20", stroke: token(`group-${number}`), "stroke-width": 2, "stroke-dasharray": DASHES[number] ?? "" });

/** Starts of buckets at even distances, from the first to the last. */
export function dates(first: number, last: number, hours: number, most: number): number[] {
  const every = hours * Math.max(1, Math.ceil((last - first) / hours / most));
  return Array.from({ length: Math.floor((last - first) / every) + 1 }, (_, i) => first + i * every);
}

/** Stretches of time for which there is an answer: a gap stays a gap, also where nobody reported. */
export function runs(points: readonly Point[], hours: number): Point[][] {
  const found: Point[][] = [];
  let before = -Infinity;
  for (const point of points) {
    if (point.frequency === null) continue;
    if (point.bucket - before > hours) found.push([]);
    found.at(-1)!.push(point);
    before = point.bucket;
  }
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
      return s("rect", { x: place * step + step / 5, y: height - tall, width: (3 * step) / 5, height: tall, fill: token("accent"), "fill-opacity": 0.7, rx: 1 });
    }),
  );
}

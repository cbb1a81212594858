/** Draws shares with their error bars, for one group or several side by side. */

import { s } from "./dom.ts";
import { decimals, percent } from "./format.ts";
import { linear, logarithmic, type Scale } from "./scale.ts";
import { token } from "./theme.ts";

export interface Group {
  readonly name: string;
  readonly frequency: ArrayLike<number>;
  readonly std_error: ArrayLike<number>;
  readonly low: ArrayLike<number>;
  readonly high: ArrayLike<number>;
}

export interface Drawing {
  readonly labels: readonly string[];
  readonly groups: readonly Group[];
  readonly places: readonly number[]; // which values, in this order
  readonly log: boolean;
  readonly width: number;
  readonly title: string;
}

const LEFT_MOST = 260;
const SIZE = 13;
const FILLED = 0.55; // of its colour in a bar
const EDGE = 18; // ticks nearer to an edge of the picture stand beside their line

/** A value whose interval contains zero: nobody can tell whether it occurs. */
export const absent = ({ low }: Pick<Group, "low">, place: number): boolean => low[place]! <= 0;

/** As much of a label as there is room for, in pixels. */
export function shortened(label: string, room: number): string {
  const most = Math.max(4, Math.floor(room / (SIZE * 0.58)));
  return label.length <= most ? label : `${label.slice(0, most - 1)}…`;
}

function axis(drawing: Drawing, from: number, to: number): Scale {
  let low = 0;
  let high = 0;
  let floor = Infinity;
  for (const group of drawing.groups)
    for (const place of drawing.places) {
      low = Math.min(low, group.low[place]!, group.frequency[place]!);
      high = Math.max(high, group.high[place]!, group.frequency[place]!);
      if (group.low[place]! > 0) floor = Math.min(floor, group.low[place]!);
    }
  const most = to - from < 300 ? 3 : 6;
  return drawing.log ? logarithmic(Math.min(floor, high / 10), high, from, to) : linear(low, high, from, to, most);
}

function told(group: Group, place: number, places: number): string {
  if (!absent(group, place)) return percent(group.frequency[place]!, places);
  return group.high[place]! >= 1 ? "unknown yet" : `below ${percent(Math.max(0, group.high[place]!), places)}`;
}

export function histogram(drawing: Drawing): SVGSVGElement {
  const { labels, groups, places, width } = drawing;
  const narrow = width < 560;
  const thick = groups.length > 1 ? 12 : 18;
  const gap = groups.length > 1 ? 2 : 0;
  const rowHeight = groups.length * (thick + gap) + (narrow ? 28 : 10);
  const longest = Math.max(...places.map((place) => labels[place]!.length), 4);
  const left = narrow ? 4 : Math.min(LEFT_MOST, longest * SIZE * 0.58 + 16);
  const right = width - (groups.length > 1 ? 20 : 118);
  const top = 24;
  const height = top + places.length * rowHeight + 8;
  const scale = axis(drawing, left, right);
  const ink = token("ink");
  const soft = token("soft");
  const picture = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": drawing.title,
    xmlns: "http://www.w3.org/2000/svg",
    "font-size": SIZE,
    "font-family": "system-ui, sans-serif",
  });
  for (const tick of scale.ticks) {
    const x = scale.at(tick.share);
    picture.append(
      s("line", { x1: x, x2: x, y1: top - 4, y2: height - 4, stroke: token("line"), "stroke-width": tick.share === 0 ? 1.5 : 0.75 }),
      s("text", { x, y: 14, fill: soft, "font-size": 11, "text-anchor": x < EDGE ? "start" : x > width - EDGE ? "end" : "middle" }, tick.text),
    );
  }
  places.forEach((place, row) => {
    const y = top + row * rowHeight;
    const label = narrow
      ? s("text", { x: left, y: y + 15, fill: ink }, shortened(labels[place]!, right - left))
      : s("text", { x: left - 8, y: y + (groups.length * (thick + gap)) / 2 + 5, fill: ink, "text-anchor": "end" }, shortened(labels[place]!, left - 12));
    label.append(s("title", {}, labels[place]!));
    picture.append(label);
    groups.forEach((group, number) => {
      const middle = y + (narrow ? 20 : 0) + number * (thick + gap) + thick / 2;
      picture.append(...bar(group, place, middle, thick, scale, token(`group-${number}`), ink));
      if (groups.length === 1) {
        const places = decimals(group.std_error[place]!);
        const text = told(group, place, places);
        const x = Math.max(scale.at(group.high[place]!), scale.at(group.frequency[place]!)) + 8;
        picture.append(s("text", { x: Math.min(x, right + 8), y: middle + 5, fill: absent(group, place) ? soft : ink, "font-variant-numeric": "tabular-nums" }, text));
      }
    });
  });
  return picture;
}

/** A sample of a group's bars, for a legend. */
export const barSample = (number: number): SVGElement => {
  const colour = token(`group-${number}`);
  return s("rect", { x: 1, y: 1, width: 18, height: 10, rx: 2, fill: colour, "fill-opacity": FILLED, stroke: colour });
};

function bar(group: Group, place: number, y: number, thick: number, scale: Scale, colour: string, ink: string): SVGElement[] {
  const zero = scale.at(0);
  const end = scale.at(group.frequency[place]!);
  const low = scale.at(group.low[place]!);
  const high = scale.at(group.high[place]!);
  const faint = absent(group, place);
  const cap = Math.min(5, thick / 3);
  return [
    s("rect", {
      x: Math.min(zero, end),
      y: y - thick / 2,
      width: Math.max(faint ? 3 : 0.5, Math.abs(end - zero)),
      height: thick,
      rx: 2,
      fill: colour,
      "fill-opacity": faint ? 0.2 : FILLED,
      stroke: colour,
      "stroke-width": 1,
      ...(faint ? { "stroke-dasharray": "3 3" } : {}),
    }),
    s("path", {
      d: `M${low} ${y}H${high}M${low} ${y - cap}v${2 * cap}M${high} ${y - cap}v${2 * cap}`,
      stroke: ink,
      "stroke-width": 1.5,
      fill: "none",
      "stroke-opacity": faint ? 0.7 : 0.9,
    }),
  ];
}

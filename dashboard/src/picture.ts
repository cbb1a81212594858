/** Takes a picture along: as SVG, or drawn on a canvas as PNG. */

import { s } from "./dom.ts";
import { save } from "./format.ts";
import { shortened } from "./histogram.ts";
import { token } from "./theme.ts";

const ROW = 22;
const SIZE = 13;

/** A picture with what stands beside it on the page, and would otherwise stay behind. */
export interface Plate {
  readonly picture: SVGSVGElement;
  readonly names?: readonly string[]; // of the groups or lines, in the order of their colours
  readonly sample?: (number: number) => SVGElement; // of a group or line
}

/** The picture as it leaves the page: on the colour of the sheet, with a legend above it. */
export function laidOut({ picture, names = [], sample }: Plate): SVGSVGElement {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const [, , width, height] = copy.getAttribute("viewBox")!.split(" ").map(Number);
  const top = ROW * names.length;
  const legend = names.map((name, number) =>
    s("g", { transform: `translate(8 ${ROW * number + 8})` }, sample?.(number),
      s("text", { x: 28, y: 11, fill: token("ink"), "font-size": SIZE }, shortened(name, width! - 36))));
  const below = s("g", { transform: `translate(0 ${top})` }, [...copy.childNodes] as Element[]);
  copy.setAttribute("viewBox", `0 0 ${width} ${height! + top}`);
  copy.setAttribute("height", String(height! + top));
  copy.append(s("rect", { width, height: height! + top, fill: token("sheet") }), ...legend, below);
  return copy;
}

const text = (picture: SVGSVGElement): string => new XMLSerializer().serializeToString(picture);

export function saveSvg(plate: Plate, name: string): void {
  save(`${name}.svg`, new Blob([text(laidOut(plate))], { type: "image/svg+xml" }));
}

export async function savePng(plate: Plate, name: string): Promise<void> {
  const picture = laidOut(plate);
  const [, , width, height] = picture.getAttribute("viewBox")!.split(" ").map(Number);
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(text(picture))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * width!;
  canvas.height = 2 * height!;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const data = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (data) save(`${name}.png`, data);
}

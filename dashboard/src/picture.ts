/** Takes a picture along: as SVG, or drawn on a canvas as PNG. */

import { save } from "./format.ts";
import { token } from "./theme.ts";

function text(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const [, , width, height] = copy.getAttribute("viewBox")!.split(" ");
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of [["width", width], ["height", height], ["fill", token("sheet")]] as const)
    ground.setAttribute(name, value!);
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(picture: SVGSVGElement, name: string): void {
  save(`${name}.svg`, new Blob([text(picture)], { type: "image/svg+xml" }));
}

export async function savePng(picture: SVGSVGElement, name: string): Promise<void> {
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

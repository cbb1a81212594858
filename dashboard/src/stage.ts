/** The place where a page is drawn, as long as nobody has gone elsewhere: what comes late changes nothing. */

import { replace, type Child } from "./dom.ts";

export class Stage {
  /** Draws again what carries colours, if there is more to keep than to load anew. */
  redraw: (() => void) | undefined;

  constructor(private readonly main: HTMLElement, readonly live: () => boolean) {}

  show(...children: (Child | Child[])[]): void {
    if (this.live()) replace(this.main, ...children);
  }
}

/** The histogram that grows while people answer. */

import { ApiError, estimate } from "../api.ts";
import { h, replace } from "../dom.ts";
import { plural } from "../format.ts";
import { histogram } from "../histogram.ts";
import { places, START } from "../view.ts";

const EVERY = 2000; // milliseconds

export function picture(target: HTMLElement, name: string): void {
  const look = async (): Promise<void> => {
    try {
      const { columns, n, withheld } = await estimate(name, { simultaneous: true });
      const order = places(START, columns.label, columns.frequency).slice(0, START.top);
      const drawn = histogram({
        labels: columns.label,
        groups: [{ name: "", ...columns }],
        places: order,
        log: false,
        width: Math.max(300, target.clientWidth - 42),
        title: `What ${n} people answered, with errors`,
      });
      replace(target, h("section", { class: "sheet", "aria-label": "Answers so far" }, h("h2", {}, `${plural(n, "person", "people")} answered${withheld ? `, ${withheld} more will show soon` : ""}`), drawn,
        h("p", { class: "quiet small" }, "The lines are 95% intervals, for all values at once. They shrink as more people answer, though nobody's answer is known.")));
    } catch (error) {
      const few = error instanceof ApiError && error.kind === "too-few-reports";
      replace(target, h("p", { class: "quiet" }, few ? "The picture shows when enough people have answered." : "The picture cannot be shown right now."));
    }
  };
  void look();
  const timer = setInterval(() => {
    if (!target.isConnected) clearInterval(timer);
    else if (!document.hidden) void look();
  }, EVERY);
}

/** Asks the collector for what a view shows: one answer, or one for each of a few groups and the difference of two. */

import { ApiError, difference, estimate, type Answer, type Collection, type Difference, type Segment } from "./api.ts";
import { question, type View } from "./view.ts";

export const MOST_GROUPS = 4;

export interface Shown {
  collection: Collection;
  view: View;
  names: string[]; // of the groups side by side; one, without a name, if nothing is compared
  answers: Answer[];
  lacking: string[]; // groups that were asked for and have too few reports
  difference: { names: readonly [string, string]; found: Difference } | null;
}

/** The segment by which groups stand side by side. */
export const compared = (collection: Collection, view: View): Segment | undefined =>
  collection.settings.segments.find(({ name }) => name === view.compare);

/** The groups that are shown: those chosen, or the first ones. */
export function groupsOf({ labels }: Segment, view: View): string[] {
  const chosen = labels.filter((label) => view.groups.includes(label));
  return (chosen.length ? chosen : labels).slice(0, MOST_GROUPS);
}

/** The two groups that are subtracted: those chosen, or the first ones. */
export function pairOf(names: readonly string[], view: View): readonly [string, string] | null {
  const [first] = [view.minuend, ...names].filter((name) => names.includes(name));
  const [second] = [view.subtrahend, ...names].filter((name) => names.includes(name) && name !== first);
  return first === undefined || second === undefined ? null : [first, second];
}

export async function ask(collection: Collection, view: View): Promise<Shown> {
  const segment = compared(collection, view);
  const asked = question(view);
  if (!segment) return { collection, view, names: [""], answers: [await estimate(collection.name, asked)], lacking: [], difference: null };
  const labels = groupsOf(segment, view);
  const tried = await Promise.allSettled(labels.map((label) => estimate(collection.name, { ...asked, [`segment.${segment.name}`]: label })));
  const found: [string, Answer][] = [];
  const lacking: string[] = [];
  tried.forEach((one, i) => {
    if (one.status === "fulfilled") found.push([labels[i]!, one.value]);
    else if (one.reason instanceof ApiError && one.reason.kind === "too-few-reports") lacking.push(labels[i]!);
    else throw one.reason;
  });
  if (found.length === 0) throw new ApiError(`No group by ${segment.name} has enough reports yet.`, "too-few-reports", 403);
  const names = found.map(([label]) => label);
  const pair = pairOf(names, view);
  const between = pair && await difference(collection.name, {
    from: asked["from"], to: asked["to"], target: view.target, level: view.level, ...limits(asked),
    [`a.${segment.name}`]: pair[0], [`b.${segment.name}`]: pair[1],
  });
  return { collection, view, names, answers: found.map(([, answer]) => answer), lacking, difference: between && { names: pair!, found: between } };
}

/** The labels to which a question is limited. */
function limits(asked: Record<string, string | boolean>): Record<string, string | boolean> {
  return Object.fromEntries(Object.entries(asked).filter(([name]) => name.startsWith("segment.")));
}

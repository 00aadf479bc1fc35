// How a scenario opens: which panes, how fast.

import type { State } from "../lab";
import type { Read, Setting } from "../protocol";
import type { PaneRun } from "./pane";

/** The panes that a scenario opens with. */
export function opening(read: Read): { name?: string; sets: Setting[] }[] {
  if (read.points.length < 2) return [{ sets: read.points[0]?.sets ?? [] }];
  const axis = read.axes[0]?.name ?? "";
  const [first] = read.points;
  const second = read.points.find((point) => point.labels[axis] !== first?.labels[axis]);
  return [first, second ?? read.points[1]].map((point) => ({
    name: Object.values(point?.labels ?? {}).join(", "),
    sets: point?.sets ?? [],
  }));
}

/** A packet of 1000 bytes takes half a second of the clock. */
export function usualSpeed(rate: number): number {
  return Number(((2 * 8000) / rate).toPrecision(1));
}

/** Begins all panes; where the state names no link, the second shows that of the first, if it has it. */
export async function begun(panes: PaneRun[], state: State): Promise<State> {
  const [first, second] = panes;
  await first?.begin(state);
  if (first === undefined || second === undefined) return state;
  const { link, direction } = first.begun;
  const linked: State = { ...state, link, direction: direction === "reverse" ? "reverse" : "forward" };
  try {
    await second.begin(linked);
    return linked;
  } catch (fault) {
    if (state.link) throw fault;
    await second.begin(state);
    return state;
  }
}

// Where things stand in the picture of a queue: lanes, the line, the fluid beneath.

import type { Snapshot } from "../protocol";

/** Lanes at most; flows beyond are counted in words. */
export const LANES = 24;

export interface Lane {
  flow: number;
  y: number;
  height: number;
}

export interface Layout {
  width: number;
  height: number;
  lanes: Lane[];
  /** Flows that have no lane. */
  more: number;
  /** Right end of the labels. */
  labelsTo: number;
  /** Where the head of a queue stands. */
  headX: number;
  lineX: number;
  lineWidth: number;
  lineY: number;
  /** Lanes of the fluid. */
  fluid: Lane[];
  fluidTop: number;
  fluidY: number;
}

const TOP = 30;
const GAP = 5;

export function layout(width: number, flows: number[], flowsInAll: number): Layout {
  const narrow = width < 520;
  const height =
    flows.length <= 3
      ? 52
      : flows.length <= 4
        ? 44
        : flows.length <= 8
          ? 34
          : Math.max(15, Math.floor(280 / flows.length));
  const lanes = flows.map((flow, at) => ({ flow, y: TOP + at * (height + GAP), height }));
  const bottom = TOP + flows.length * (height + GAP);
  const fluidTop = bottom + 8;
  const thin = Math.max(8, Math.min(16, height / 2));
  const fluid = flows.map((flow, at) => ({ flow, y: fluidTop + 24 + at * (thin + 3), height: thin }));
  const end = fluidTop + 24 + flows.length * (thin + 3);
  const lineWidth = narrow ? 70 : 116;
  const lineX = width - lineWidth - 4;
  return {
    width,
    height: end + 4,
    lanes,
    more: flowsInAll - flows.length,
    labelsTo: narrow ? 86 : 116,
    headX: lineX - (narrow ? 26 : 44),
    lineX,
    lineWidth,
    lineY: (TOP + bottom - GAP) / 2,
    fluid,
    fluidTop,
    fluidY: (fluidTop + 24 + end) / 2,
  };
}

/** The flows that have a lane: all if they are few, else those that were seen first. */
export function flowsShown(seen: Set<number>, snapshot: Snapshot, flowsInAll: number): number[] {
  if (flowsInAll <= LANES) return Array.from({ length: flowsInAll }, (_, flow) => flow);
  for (const { flow } of snapshot.waiting) {
    if (seen.size >= LANES) break;
    seen.add(flow);
  }
  if (snapshot.sending !== null && seen.size < LANES) seen.add(snapshot.sending.flow);
  return [...seen].sort((one, other) => one - other);
}

/** How far from its queue's head each waiting packet stands, in bytes, in the discipline's own order. */
export function bytesAhead(snapshot: Snapshot): Map<number, number> {
  const ahead = new Map<number, number>();
  const queues = new Map<number, number>();
  const ordered = [...snapshot.waiting].sort((one, other) => one.place - other.place);
  for (const packet of ordered) {
    const before = queues.get(packet.queue) ?? 0;
    ahead.set(packet.serial, before);
    queues.set(packet.queue, before + packet.bytes);
  }
  return ahead;
}

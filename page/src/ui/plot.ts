// One plot of a pane's history: a curve for each flow, and with throughput what the fluid and max-min give.

import uPlot from "uplot";
import { flowColour, type Theme } from "../draw/colours";
import { withUnit } from "../draw/numbers";
import type { History } from "../protocol";
import type { PaneRun } from "../run/pane";

export type Kind = "throughput" | "delay" | "backlog";

type OfFlow = (flow: History["flows"][0]) => (number | null)[];

export const KINDS: Record<Kind, { unit: string; words: string; of: OfFlow }> = {
  throughput: { unit: "bit/s", words: "Throughput", of: (flow) => flow.throughput_bit_per_s },
  delay: { unit: "s", words: "Delay", of: (flow) => flow.delay_s },
  backlog: { unit: "B", words: "Backlog", of: (flow) => flow.backlog_bytes },
};

/** Flows with a curve at most. */
const FLOWS = 16;
const HEIGHT = 210;

interface Curve {
  label: string;
  values: (number | null)[];
  look: Partial<uPlot.Series>;
}

/** What a plot shows; while all of it is the same, new values need no new plot. */
export interface Shown {
  kind: Kind;
  pane: PaneRun;
  theme: Theme;
  width: number;
}

/** The largest value of a kind in a history. */
export function tallest(kind: Kind, history: History): number {
  let most = 0;
  for (const flow of history.flows.slice(0, FLOWS)) {
    for (const value of KINDS[kind].of(flow)) most = Math.max(most, value ?? 0);
  }
  return most;
}

export class Plot {
  private readonly shown: Shown;
  private readonly count: number;
  private readonly drawn: uPlot;
  private top = 1;

  constructor(box: HTMLElement, shown: Shown, history: History) {
    this.shown = shown;
    const curves = curvesOf(shown, history);
    this.count = curves.length;
    this.drawn = new uPlot(this.options(curves), data(history, curves), box);
    this.drawn.root.setAttribute("role", "img");
    const words = `${KINDS[shown.kind].words} of each flow over time under ${shown.pane.begun.queue}`;
    this.drawn.root.setAttribute("aria-label", words);
  }

  /** Whether the plot can show this too, with other values. */
  fits(shown: Shown, history: History): boolean {
    const { kind, pane, theme, width } = this.shown;
    const same = kind === shown.kind && pane === shown.pane && theme === shown.theme && width === shown.width;
    return same && curvesOf(shown, history).length === this.count;
  }

  update(history: History, top: number): void {
    this.top = top;
    this.drawn.setData(data(history, curvesOf(this.shown, history)));
  }

  end(): void {
    this.drawn.destroy();
  }

  private options(curves: Curve[]): uPlot.Options {
    const { theme, kind, width } = this.shown;
    const line = { stroke: theme.line, width: 0.5 };
    const axis = { stroke: theme.faint, grid: line, ticks: line };
    const seconds = (_: uPlot, ticks: number[]) => ticks.map((tick) => `${Number(tick.toPrecision(6))} s`);
    const values = (_: uPlot, ticks: number[]) => ticks.map((tick) => withUnit(tick, KINDS[kind].unit));
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false },
      scales: { x: { time: false }, y: { range: () => [0, this.top] } },
      axes: [
        { ...axis, values: seconds },
        { ...axis, size: 74, values },
      ],
      series: [
        { label: "time" },
        ...curves.map(({ label, look }) => ({ label, points: { show: false }, ...look })),
      ],
    };
  }
}

function data(history: History, curves: Curve[]): uPlot.AlignedData {
  const bins = history.time_s.length;
  return [history.time_s, ...curves.map(({ values }) => values.slice(0, bins))] as uPlot.AlignedData;
}

function curvesOf({ kind, pane, theme }: Shown, history: History): Curve[] {
  const curves = history.flows.slice(0, FLOWS).map((flow, at) => ({
    label: pane.begun.flows[at]?.name ?? String(at),
    values: KINDS[kind].of(flow),
    look: { stroke: flowColour(at, theme), width: 2, spanGaps: true, dash: at % 2 ? [7, 3] : [] },
  }));
  return kind === "throughput" ? [...curves, ...ideals(history, theme)] : curves;
}

/** What the fluid gives, thin, and the max-min shares, dotted. */
function ideals(history: History, theme: Theme): Curve[] {
  const fluid = history.flows.slice(0, FLOWS).map((flow) => ({
    label: "fluid",
    values: flow.fluid_bit_per_s as (number | null)[],
    look: { stroke: theme.ink, width: 0.7 },
  }));
  const shares = history.measures.max_min_bit_per_s?.slice(0, FLOWS) ?? [];
  const levels = [...new Set(shares.map((share) => Number(share.toPrecision(6))))].map((share) => ({
    label: "max-min",
    values: history.time_s.map(() => share as number | null),
    look: { stroke: theme.faint, width: 1.5, dash: [2, 4] },
  }));
  return [...fluid, ...levels];
}

// Throughput, delay and backlog of each flow over time, side by side for the panes, and what was measured.

import uPlot from "uplot";
import { flowColour } from "../draw/colours";
import { withUnit } from "../draw/numbers";
import type { History } from "../protocol";
import type { PaneRun } from "../run/pane";
import type { Context } from "./context";
import { h } from "./dom";
import { measuresTable } from "./measures-table";

type Kind = "throughput" | "delay" | "backlog";

/** A history without a last bin that has only begun, whose rate would be too small. */
function whole(history: History, nowS: number): History {
  const bins = history.time_s.length;
  if (bins < 3 || (history.time_s[bins - 1] ?? 0) <= nowS * (1 + 1e-9)) return history;
  return { ...history, time_s: history.time_s.slice(0, -1) };
}

const KINDS: Record<
  Kind,
  { unit: string; words: string; of: (flow: History["flows"][0]) => (number | null)[] }
> = {
  throughput: { unit: "bit/s", words: "Throughput", of: (flow) => flow.throughput_bit_per_s },
  delay: { unit: "s", words: "Delay", of: (flow) => flow.delay_s },
  backlog: { unit: "B", words: "Backlog", of: (flow) => flow.backlog_bytes },
};

/** Flows with a curve at most. */
const FLOWS = 16;
/** Curves are asked for this often while the run plays, milliseconds. */
const EVERY_MS = 400;
const HEIGHT = 210;
const BINS = 120;

export class Curves {
  readonly element: HTMLElement;
  histories: History[] = [];
  private kind: Kind = "throughput";
  private readonly page: Context;
  private readonly note = h("p", { class: "summary" }, "thin: the fluid; dotted: the max-min shares");
  private readonly plots = h("div", { class: "plots" });
  private readonly tables = h("div", { class: "plots" });
  private drawn: uPlot[] = [];
  private asked = 0;
  private at = "";

  constructor(page: Context) {
    this.page = page;
    const choices = h("div", { class: "row choices", role: "group", "aria-label": "curve" });
    for (const kind of Object.keys(KINDS) as Kind[]) {
      const press = () => {
        this.kind = kind;
        for (const each of choices.children) each.setAttribute("aria-pressed", String(each === button));
        this.show();
      };
      const pressed = String(kind === this.kind);
      const button = h(
        "button",
        { type: "button", "aria-pressed": pressed, onclick: press },
        KINDS[kind].words,
      );
      choices.append(button);
    }
    const head = h("header", { class: "pane-head" }, h("h2", {}, "Over time"), choices);
    this.element = h(
      "section",
      { class: "curves", "aria-label": "curves" },
      head,
      this.note,
      this.plots,
      this.tables,
    );
  }

  begin(): void {
    this.at = "";
    this.asked = 0;
    this.histories = [];
  }

  /** Asks for curves when the instant is another one. */
  draw(): void {
    const { lab } = this.page;
    const state = lab.panes
      .map(({ snapshot }) => `${snapshot.steps} ${snapshot.digest} ${snapshot.now_s}`)
      .join();
    const now = performance.now();
    if (state === this.at || lab.busy !== null || now - this.asked < EVERY_MS) return;
    this.at = state;
    this.asked = now;
    if (lab.nowS <= 0) return;
    const asks = lab.panes.map((pane) => {
      const span = { from_s: 0, to_s: Math.max(lab.nowS, 1e-9), bins: this.bins(pane) };
      return lab.client.ask("history", { run: pane.index, ...span });
    });
    Promise.all(asks).then(
      (histories) => {
        this.histories = histories.map((history) => whole(history, lab.nowS));
        this.show();
      },
      () => {},
    );
  }

  /** No more bins than the line could send packets in them, so that a curve doesn't jump between 0 and all. */
  private bins(pane: PaneRun): number {
    const packets = (this.page.lab.nowS * pane.begun.rate_bit_per_s) / 8000;
    return Math.max(4, Math.min(BINS, Math.floor(packets / 15)));
  }

  /** Draws what is known anew, as when the theme or the width is another one. */
  show(): void {
    for (const plot of this.drawn) plot.destroy();
    const { panes } = this.page.lab;
    const known = this.histories.length === panes.length ? this.histories : [];
    const tallest = Math.max(
      0,
      ...known.flatMap((history) => history.flows.flatMap((flow) => this.tallest(flow))),
    );
    const top = tallest > 0 ? tallest : 1;
    this.plots.replaceChildren();
    this.tables.replaceChildren();
    // All boxes stand before the first plot asks how wide it may be.
    const boxes = known.map(() => h("div", { class: "plot" }));
    this.plots.append(...boxes);
    this.note.hidden = this.kind !== "throughput";
    this.drawn = known.map((history, at) => {
      const pane = panes[at] as PaneRun;
      this.tables.append(measuresTable(pane, history.measures, this.page.theme()));
      return this.plot(boxes[at] as HTMLElement, pane, history, top * 1.05);
    });
  }

  private tallest(flow: History["flows"][0]): number[] {
    return KINDS[this.kind].of(flow).map((value) => value ?? 0);
  }

  private plot(box: HTMLElement, pane: PaneRun, history: History, top: number): uPlot {
    const theme = this.page.theme();
    const { unit, of, words } = KINDS[this.kind];
    const flows = history.flows.slice(0, FLOWS);
    const lines: { label: string; values: (number | null)[]; look: Partial<uPlot.Series> }[] = flows.map(
      (flow, at) => ({
        label: pane.begun.flows[at]?.name ?? String(at),
        values: of(flow),
        look: { stroke: flowColour(at, theme), width: 2, spanGaps: true, dash: at % 2 ? [7, 3] : [] },
      }),
    );
    if (this.kind === "throughput") lines.push(...this.ideals(history, theme.ink, theme.faint));
    const axis = {
      stroke: theme.faint,
      grid: { stroke: theme.line, width: 0.5 },
      ticks: { stroke: theme.line },
    };
    const options: uPlot.Options = {
      width: Math.max(200, box.clientWidth),
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false },
      scales: { x: { time: false }, y: { range: [0, top] } },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((tick) => `${Number(tick.toPrecision(6))} s`) },
        { ...axis, size: 74, values: (_, ticks) => ticks.map((tick) => withUnit(tick, unit)) },
      ],
      series: [
        { label: "time" },
        ...lines.map(({ label, look }) => ({ label, points: { show: false }, ...look })),
      ],
    };
    const plot = new uPlot(
      options,
      [
        history.time_s,
        ...lines.map(({ values }) => values.slice(0, history.time_s.length)),
      ] as uPlot.AlignedData,
      box,
    );
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", `${words} of each flow over time under ${pane.begun.queue}`);
    return plot;
  }

  /** What the fluid gives, thin, and the max-min shares, dotted. */
  private ideals(history: History, ink: string, faint: string) {
    const first = history.flows.slice(0, FLOWS);
    const fluid = first.map((flow) => ({
      label: "fluid",
      values: flow.fluid_bit_per_s as (number | null)[],
      look: { stroke: ink, width: 0.7 },
    }));
    const shares = history.measures.max_min_bit_per_s?.slice(0, FLOWS) ?? [];
    const levels = [...new Set(shares.map((share) => Number(share.toPrecision(6))))].map((share) => ({
      label: "max-min",
      values: history.time_s.map(() => share as number | null),
      look: { stroke: faint, width: 1.5, dash: [2, 4] },
    }));
    return [...fluid, ...levels];
  }
}

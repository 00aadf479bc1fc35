// Throughput, delay and backlog of each flow over time, side by side for the panes, and what was measured.

import type { History } from "../protocol";
import type { PaneRun } from "../run/pane";
import type { Context } from "./context";
import { h } from "./dom";
import { measuresTable } from "./measures-table";
import { KINDS, type Kind, Plot, type Shown, tallest } from "./plot";

/** Curves are asked for this often at most, milliseconds, and less often while the run plays. */
const EVERY_MS = 300;
const PLAYING_MS = 800;
const BINS = 120;
/** Bins of all flows that are asked for at most. */
const VALUES = 12_000;
/** Packets of 1000 bytes in a bin at least, so that a curve doesn't jump between 0 and the line's rate. */
const PACKETS = 15;

export class Curves {
  readonly element: HTMLElement;
  private histories: History[] = [];
  private kind: Kind = "throughput";
  private readonly page: Context;
  private readonly note = h("p", { class: "summary" }, "thin: the fluid; dotted: the max-min shares");
  private readonly plots = h("div", { class: "plots" });
  private readonly tables = h("div", { class: "plots" });
  private drawn: Plot[] = [];
  private asked = 0;
  private at = "";

  constructor(page: Context) {
    this.page = page;
    const head = h("header", { class: "pane-head" }, h("h2", {}, "Over time"), this.choices());
    const look = { class: "curves", "aria-label": "curves" };
    this.element = h("section", look, head, this.note, this.plots, this.tables);
  }

  begin(): void {
    this.at = "";
    this.asked = 0;
    this.histories = [];
  }

  /** Asks for curves when the instant is another one. */
  draw(): void {
    const { lab } = this.page;
    const states = lab.panes.map(({ snapshot }) => `${snapshot.steps} ${snapshot.digest} ${snapshot.now_s}`);
    const [state, now] = [states.join(), performance.now()];
    if (state === this.at || lab.busy !== null || lab.nowS <= 0) return;
    const wait = this.asked + (lab.playing ? PLAYING_MS : EVERY_MS) - now;
    if (wait > 0) {
      if (!lab.playing) setTimeout(() => this.page.redraw(), wait);
      return;
    }
    this.at = state;
    this.asked = now;
    const asks = lab.panes.map((pane) => {
      const span = { from_s: 0, to_s: lab.nowS, bins: this.bins(pane) };
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

  /** Draws what is known: new values in the plots that stand, or new plots. */
  show(): void {
    const { panes } = this.page.lab;
    const known = this.histories.length === panes.length ? this.histories : [];
    this.note.hidden = this.kind !== "throughput";
    const theme = this.page.theme();
    const width = this.width(known.length);
    const shown = known.map(
      (_, at): Shown => ({ kind: this.kind, pane: panes[at] as PaneRun, theme, width }),
    );
    const isSame =
      this.drawn.length === known.length &&
      known.every((history, at) => this.drawn[at]?.fits(shown[at] as Shown, history));
    if (!isSame) this.afresh(shown, known);
    const top = Math.max(0, ...known.map((history) => tallest(this.kind, history)));
    known.forEach((history, at) => {
      this.drawn[at]?.update(history, top > 0 ? top * 1.05 : 1);
    });
    const tables = known.map(({ measures }, at) => measuresTable(panes[at] as PaneRun, measures, theme));
    this.tables.replaceChildren(...tables);
  }

  private afresh(shown: Shown[], known: History[]): void {
    for (const plot of this.drawn) plot.end();
    const boxes = known.map(() => h("div", { class: "plot" }));
    this.plots.replaceChildren(...boxes);
    this.drawn = known.map((history, at) => new Plot(boxes[at] as HTMLElement, shown[at] as Shown, history));
  }

  /** The width of a plot: beside each other where the styles put them so. */
  private width(count: number): number {
    const whole = this.plots.clientWidth;
    const isBeside = count > 1 && matchMedia("(min-width: 900px)").matches;
    return Math.max(200, Math.floor(isBeside ? (whole - 12) / 2 : whole));
  }

  private bins(pane: PaneRun): number {
    const packets = (this.page.lab.nowS * pane.begun.rate_bit_per_s) / 8000;
    const most = Math.min(BINS, Math.floor(VALUES / pane.begun.flows.length));
    return Math.max(4, Math.min(most, Math.floor(packets / PACKETS)));
  }

  private choices(): HTMLElement {
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
    return choices;
  }
}

/** A history without a last bin that has only begun, whose rate would be too small. */
function whole(history: History, nowS: number): History {
  const bins = history.time_s.length;
  if (bins < 3 || (history.time_s[bins - 1] ?? 0) <= nowS * (1 + 1e-9)) return history;
  return { ...history, time_s: history.time_s.slice(0, -1) };
}

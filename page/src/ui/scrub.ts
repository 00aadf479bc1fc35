// The scrub bar: the whole run from left to right, with ticks where packets were dropped or marked.

import { fitted } from "../draw/canvas-brush";
import { instant } from "../draw/numbers";
import type { Tick } from "../protocol";
import { type Context, run } from "./context";
import { h } from "./dom";

const HEIGHT = 26;
/** Ticks are asked for this often at most, milliseconds. */
const EVERY_MS = 500;

export class Scrub {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { "aria-hidden": "true" });
  private readonly range: HTMLInputElement;
  private readonly page: Context;
  private ticks: Tick[] = [];
  private knownTo = -1;
  private asked = 0;
  private dragging = false;

  constructor(page: Context) {
    this.page = page;
    this.range = h("input", {
      type: "range",
      min: 0,
      max: 1000,
      value: 0,
      step: "any",
      "aria-label": "time of the run",
    });
    this.element = h("div", { class: "scrub" }, this.canvas, this.range);
    this.range.addEventListener("input", () => {
      this.dragging = true;
    });
    this.range.addEventListener("change", () => {
      this.dragging = false;
      run(page.lab.seek((Number(this.range.value) / 1000) * page.lab.endS));
    });
  }

  begin(): void {
    this.ticks = [];
    this.knownTo = -1;
  }

  draw(): void {
    const { lab } = this.page;
    const { endS } = lab;
    if (!this.dragging) this.range.value = String(endS > 0 ? (lab.clockS / endS) * 1000 : 0);
    this.range.setAttribute("aria-valuetext", `${instant(lab.clockS, endS)} of ${instant(endS)}`);
    this.refresh();
    const width = this.element.clientWidth;
    const brush = width > 40 ? fitted(this.canvas, width, HEIGHT) : null;
    if (brush === null) return;
    const theme = this.page.theme();
    const middle = HEIGHT / 2;
    const place = (timeS: number) => 8 + (timeS / endS) * (width - 16);
    brush.rect(8, middle - 2, width - 16, 4, 2, { fill: theme.line });
    brush.rect(8, middle - 2, Math.max(0, place(lab.clockS) - 8), 4, 2, { fill: theme.accent });
    const marks = new Set(
      this.ticks.filter(({ kind }) => kind === "marked").map(({ at_s }) => Math.round(place(at_s))),
    );
    const drops = new Set(
      this.ticks.filter(({ kind }) => kind === "dropped").map(({ at_s }) => Math.round(place(at_s))),
    );
    for (const x of marks) brush.path(`M${x - 2.5} ${middle + 11}l2.5 -5l2.5 5Z`, { fill: theme.faint });
    for (const x of drops) brush.path(`M${x} 2V${middle - 4}`, { stroke: theme.alarm, width: 1.5 });
  }

  private refresh(): void {
    const { lab } = this.page;
    const now = performance.now();
    if (lab.nowS === this.knownTo || now - this.asked < EVERY_MS || lab.busy !== null) return;
    this.asked = now;
    this.knownTo = lab.nowS;
    const asks = lab.panes.map((pane) =>
      lab.client.ask("history", { run: pane.index, from_s: 0, to_s: Math.max(lab.nowS, 1e-9), bins: 1 }),
    );
    Promise.all(asks).then(
      (all) => {
        this.ticks = all.flatMap(({ ticks }) => ticks);
        this.page.redraw();
      },
      () => {},
    );
  }
}

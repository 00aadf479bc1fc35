// The last moments as a strip: each packet's wait, its transmission, and when the fluid would have ended it.

import { fitted } from "../draw/canvas-brush";
import { drawStrip, stripHeight } from "../draw/strip";
import type { Timeline } from "../protocol";
import type { PaneRun } from "../run/pane";
import type { Context } from "./context";
import { h } from "./dom";

/** Transmissions of 1000 bytes that the strip spans. */
const PACKETS = 24;
/** While the run plays the strip is asked for this often, milliseconds. */
const EVERY_MS = 120;
const DRAWN_MS = 40;

export class Strip {
  readonly element: HTMLElement;
  timeline: Timeline | null = null;
  spanS = 1;
  private readonly canvas = h("canvas", { role: "img", "aria-label": "packets over time" });
  private readonly page: Context;
  private asked = 0;
  private drawn = 0;
  private at = "";

  constructor(page: Context) {
    this.page = page;
    const summary = h("summary", {}, "Packets over time");
    this.element = h("details", { class: "strip", open: true }, summary, this.canvas);
    this.element.addEventListener("toggle", () => page.redraw());
  }

  begin(pane: PaneRun): void {
    this.timeline = null;
    this.at = "";
    this.spanS = (PACKETS * 8000) / pane.begun.rate_bit_per_s;
  }

  /** Draws what is known and asks for what is not. */
  draw(pane: PaneRun, width: number): void {
    if (!(this.element as HTMLDetailsElement).open) return;
    const { lab } = this.page;
    const clockS = lab.playing ? lab.clockS : pane.snapshot.now_s;
    this.refresh(pane);
    // A strip that scrolls need not be drawn in each frame.
    const now = performance.now();
    if (lab.playing && now - this.drawn < DRAWN_MS) return;
    this.drawn = now;
    const flows = pane.begun.flows.length;
    const brush = fitted(this.canvas, width, stripHeight(flows));
    if (brush === null || this.timeline === null) return;
    const { spanS, timeline } = this;
    drawStrip(brush, { width, flows, timeline, spanS, clockS, theme: this.page.theme(), lit: this.page.lit });
  }

  private refresh(pane: PaneRun): void {
    const { lab } = this.page;
    const { steps, digest, now_s } = pane.snapshot;
    const state = `${steps} ${digest} ${now_s}`;
    const now = performance.now();
    if (state === this.at || (lab.playing && now - this.asked < EVERY_MS)) return;
    this.at = state;
    this.asked = now;
    const from_s = Math.max(0, now_s - this.spanS);
    const asked = { run: pane.index, from_s, to_s: now_s, most: 400 };
    lab.client.ask("timeline", asked).then(
      (timeline) => {
        this.timeline = timeline;
        this.page.redraw();
      },
      () => {},
    );
  }
}

// The discipline of a pane: a text field with the names of the registry, and the points of the axes.

import type { PaneRun } from "../run/pane";
import { type Context, run } from "./context";
import { h, unique } from "./dom";

export class QueueField {
  readonly element = h("div", { class: "queue-field" });
  private readonly page: Context;
  private readonly index: 0 | 1;
  private readonly input: HTMLInputElement;
  private readonly points: HTMLSelectElement;

  constructor(page: Context, index: 0 | 1) {
    this.page = page;
    this.index = index;
    const list = unique("queues");
    const names = h(
      "datalist",
      { id: list },
      ...page.about.queues.map((name) => h("option", { value: name })),
    );
    const label = `queue of pane ${index + 1}`;
    this.input = h("input", { list, "aria-label": label, spellcheck: "false", autocomplete: "off" });
    this.points = h("select", { "aria-label": `point of the scenario in pane ${index + 1}` });
    this.input.addEventListener("change", () => this.change());
    this.points.addEventListener("change", () => this.choosePoint());
    this.element.append(this.input, names, this.points);
  }

  show(pane: PaneRun): void {
    this.input.value = pane.begun.queue;
    const points = this.page.lab.read?.points ?? [];
    this.points.hidden = points.length < 2;
    const all = points.slice(0, 200).map((point, at) => {
      const words = Object.entries(point.labels).map(([axis, value]) => `${axis} ${value}`);
      return h("option", { value: at }, words.join(", ") || `point ${at + 1}`);
    });
    const own = JSON.stringify(pane.sets);
    this.points.replaceChildren(h("option", { value: "", disabled: true }, "another point"), ...all);
    const at = points.findIndex((point) => JSON.stringify(point.sets) === own);
    this.points.value = at < 0 ? "" : String(at);
  }

  private change(): void {
    const { lab } = this.page;
    const pane = lab.panes[this.index];
    const value = this.input.value.trim();
    if (pane === undefined || value === "" || value === pane.begun.queue) return;
    const path = `links.${pane.begun.link}.queue`;
    const sets = [
      ...pane.sets.filter(([each]) => !/(^|\.)queue($|\.)/.test(each)),
      [path, value] as [string, string],
    ];
    const panes = lab.state().panes.map((each, at) => (at === this.index ? { sets, log: [] } : each));
    lab.change({ panes }).catch(() => {
      this.input.value = pane.begun.queue;
    });
  }

  private choosePoint(): void {
    const { lab } = this.page;
    const point = lab.read?.points[Number(this.points.value)];
    if (point === undefined) return;
    const name = Object.values(point.labels).join(", ");
    const chosen = { name, sets: point.sets, log: [] };
    run(lab.change({ panes: lab.state().panes.map((each, at) => (at === this.index ? chosen : each)) }));
  }
}

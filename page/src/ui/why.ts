// Why the packet on the line was chosen: a sentence, the step of the pseudo-code, and what the
// discipline shows of itself.

import { instant, withUnit } from "../draw/numbers";
import type { Reading } from "../protocol";
import type { PaneRun } from "../run/pane";
import { why } from "../scene/words";
import { h, setText } from "./dom";

/** Readings that are listed at most: some disciplines have a row for each of a thousand queues. */
const ROWS = 40;

export class Why {
  readonly element: HTMLElement;
  private readonly sentence = h("p", { class: "why" });
  private readonly steps = h("ol", { class: "steps" });
  private readonly summary = h("p", { class: "summary" });
  private readonly rows = h("tbody");
  private readonly table: HTMLElement;
  private readonly stepsPart: HTMLElement;

  constructor(index: number) {
    const head = h("tr", {}, h("th", { scope: "col" }, "part"), h("th", { scope: "col" }, "reading"));
    head.append(h("th", { scope: "col", class: "number" }, "value"));
    const table = h("table", {}, h("thead", {}, head), this.rows);
    const scroll = {
      class: "scroll",
      tabindex: 0,
      role: "region",
      "aria-label": `readings of pane ${index + 1}`,
    };
    this.table = h(
      "details",
      { class: "readings", open: true },
      h("summary", {}, "Readings"),
      h("div", scroll, table),
    );
    this.stepsPart = h("details", { open: true }, h("summary", {}, "Algorithm"), this.summary, this.steps);
    this.element = h("div", { class: "inside" }, this.sentence, this.stepsPart, this.table);
  }

  /** The pseudo-code of another discipline. */
  begin(pane: PaneRun): void {
    const card = pane.card;
    setText(this.summary, card?.summary ?? "");
    this.stepsPart.hidden = card === null;
    this.steps.hidden = (card?.steps.length ?? 0) === 0;
    this.steps.replaceChildren(...(card?.steps ?? []).map((step) => h("li", {}, step)));
  }

  show(pane: PaneRun): void {
    const { snapshot, begun } = pane;
    const words = why(snapshot, begun.flows).join(" ");
    setText(this.sentence, words || "No choice between queues yet.");
    const lit = snapshot.decision?.step ?? 0;
    [...this.steps.children].forEach((step, at) => {
      const here = at + 1 === lit;
      step.classList.toggle("lit", here);
      if (here) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
    this.list(snapshot.readings);
  }

  private list(readings: Reading[]): void {
    this.table.hidden = readings.length === 0;
    const shown = readings.slice(0, ROWS);
    while (this.rows.rows.length > shown.length) this.rows.deleteRow(-1);
    shown.forEach((reading, at) => {
      const row =
        this.rows.rows[at] ??
        this.rows.appendChild(h("tr", {}, h("td"), h("td"), h("td", { class: "number" })));
      const texts = [reading.part ?? "", reading.name.replaceAll("_", " "), shownValue(reading)];
      texts.forEach((text, column) => {
        const cell = row.cells[column];
        if (cell !== undefined) setText(cell, text);
      });
    });
  }
}

function shownValue({ value, unit }: Reading): string {
  if (typeof value !== "number") return value ?? "–";
  if (unit === "s") return Math.abs(value) < 1 ? withUnit(value, "s") : instant(value);
  if (unit === "bit/s") return withUnit(value, unit);
  const number = Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  return `${number}${unit && unit !== "1" ? ` ${unit}` : ""}`;
}

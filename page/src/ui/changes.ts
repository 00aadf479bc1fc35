// Sliders for what the link, the flows and the discipline are set to; each change is made at the present
// instant, or begins the run again where the simulator says so.

import { withUnit } from "../draw/numbers";
import type { Setting } from "../protocol";
import type { PaneRun } from "../run/pane";
import { isWhole, numbersOf, type Quantity, quantity, written } from "../run/queue-text";
import { type Context, run } from "./context";
import { h, setText, unique } from "./dom";

/** Flows with sliders of their own at most. */
const FLOWS = 8;

/** Settings of a discipline with a slider at most. */
const SETTINGS = 10;

interface Slider {
  label: string;
  start: Quantity;
  doc?: string;
  settings: (value: number) => Setting;
  /** The only pane that it changes. */
  pane?: number;
}

export class Changes {
  readonly element: HTMLElement;
  private readonly page: Context;
  private readonly list = h("div", { class: "sliders" });
  private readonly made = h("p", { class: "summary" });
  private readonly undo: HTMLButtonElement;
  private readonly link: HTMLSelectElement;

  constructor(page: Context) {
    this.page = page;
    const { lab } = page;
    this.undo = h("button", { type: "button", onclick: () => run(lab.undo()) }, "Undo the last change (u)");
    const inject = h("button", { type: "button", "data-act": "inject" }, "Put packets in (i)");
    const reset = h(
      "button",
      { type: "button", onclick: () => run(lab.restart(false)) },
      "Again without changes",
    );
    this.link = h("select", {});
    this.link.addEventListener("change", () => this.chooseLink());
    const summary = h("summary", {}, h("h2", {}, "Change something"));
    const row = h("div", { class: "row" }, h("label", {}, "link ", this.link), inject, this.undo, reset);
    this.element = h("details", { class: "changes", open: true }, summary, row, this.made, this.list);
  }

  begin(): void {
    const { lab } = this.page;
    const pane = lab.panes[0];
    if (pane === undefined) return;
    const links = pane.begun.links.slice(0, 1000).flatMap((link) => {
      const words = `${link.name}, ${withUnit(link.rate_bit_per_s, "bit/s")}, ${link.flows} flows`;
      return [
        h("option", { value: `forward ${link.name}` }, words),
        h("option", { value: `reverse ${link.name}` }, `${link.name}, back`),
      ];
    });
    this.link.replaceChildren(...links);
    this.link.value = `${pane.begun.direction} ${pane.begun.link}`;
    run(this.show(pane));
  }

  draw(): void {
    const pane = this.page.lab.panes[this.page.lab.active];
    const count = pane?.log.length ?? 0;
    this.undo.disabled = count === 0;
    setText(
      this.made,
      count === 0
        ? "Nothing was changed by hand."
        : `${count} changes by hand in ${pane?.name ?? "this pane"}.`,
    );
  }

  private chooseLink(): void {
    const [direction, ...name] = this.link.value.split(" ");
    const { lab } = this.page;
    const panes = lab.state().panes.map((pane) => ({ ...pane, log: [] }));
    run(lab.change({ link: name.join(" "), direction: direction as "forward" | "reverse", panes }));
  }

  /** Asks what the fields are now, and makes their sliders. */
  private async show(pane: PaneRun): Promise<void> {
    const sliders = [...(await this.ofLink(pane)), ...this.ofQueues(), ...(await this.ofFlows(pane))];
    // Another run may have begun while the fields were asked.
    if (pane !== this.page.lab.panes[0]) return;
    const rows = sliders.map((slider) => this.row(slider));
    // A change that begins the run again leaves the focus on its slider.
    const focused = [...this.list.children].findIndex((row) => row.contains(document.activeElement));
    this.list.replaceChildren(...rows);
    if (focused >= 0) rows[focused]?.querySelector("input")?.focus();
  }

  private async field(pane: PaneRun, path: string): Promise<Quantity | null> {
    const asked = this.page.lab.client.ask("field", { run: pane.index, path });
    return quantity(await asked.then(({ value }) => value).catch(() => null));
  }

  private async ofLink(pane: PaneRun): Promise<Slider[]> {
    const { begun } = pane;
    const link = `links.${begun.link}`;
    const [rate, own, all] = await Promise.all(
      [`${link}.rate`, `${link}.buffer`, "defaults.buffer"].map((path) => this.field(pane, path)),
    );
    const first = rate ?? { value: begun.rate_bit_per_s, unit: "bit/s" };
    const buffer = own ?? all;
    const sliders: Slider[] = [slider("rate of the link", first, `${link}.rate`)];
    if (buffer) sliders.push(slider("buffer", buffer, `${link}.limit`));
    return sliders;
  }

  private async ofFlows(pane: PaneRun): Promise<Slider[]> {
    const flows = pane.begun.flows.slice(0, FLOWS);
    const sizes = await Promise.all(
      flows.map(({ name }) => this.field(pane, `flows.${name}.traffic.packet`)),
    );
    return flows.flatMap(({ name, weight }, at) => {
      const size = sizes[at];
      const weighed = slider(`weight of ${name}`, { value: weight, unit: "" }, `flows.${name}.weight`);
      return size ? [weighed, slider(`packets of ${name}`, size, `flows.${name}.traffic.packet`)] : [weighed];
    });
  }

  /** The numbers of each pane's discipline. */
  private ofQueues(): Slider[] {
    return this.page.lab.panes.flatMap((pane) => {
      const { queue, link, card } = pane.begun;
      const numbers = numbersOf(queue, card, pane.card?.settings ?? []).slice(0, SETTINGS);
      const whose = this.page.lab.panes.length > 1 ? ` of ${pane.name ?? `queue ${pane.index + 1}`}` : "";
      return numbers.map((number) => ({
        label: `${number.name.replaceAll("_", " ")}${whose}`,
        start: { value: number.value, unit: number.unit },
        doc: number.doc,
        settings: (value: number): Setting => [`links.${link}.queue`, number.replaced(value)],
        pane: pane.index,
      }));
    });
  }

  private row({ label, start, doc, settings, pane }: Slider): HTMLElement {
    const id = unique("slider");
    const range = start.value === 0 ? { min: 0, value: 0 } : { min: -1, value: 0 };
    const place = h("input", { id, type: "range", max: 1, step: 0.02, ...range });
    const whole = isWhole(start.value, start.unit);
    const shown = h("output", { for: id }, written(start, whole));
    const value = () => placed(start, Number(place.value));
    const tell = () => {
      const text = written({ ...start, value: value() }, whole);
      setText(shown, text);
      place.setAttribute("aria-valuetext", text);
    };
    tell();
    place.addEventListener("input", tell);
    place.addEventListener("change", () => this.set(settings(value()), pane));
    return h("div", { class: "slider", title: doc || null }, h("label", { for: id }, label), place, shown);
  }

  private set(setting: Setting, only: number | undefined): void {
    const { lab } = this.page;
    for (const pane of lab.panes) {
      if (only === undefined || only === pane.index) run(lab.hand(pane.index, { set: setting }));
    }
  }
}

function slider(label: string, start: Quantity, path: string): Slider {
  const whole = isWhole(start.value, start.unit);
  return { label, start, settings: (value) => [path, written({ value, unit: start.unit }, whole)] };
}

/** From a tenth of a value to ten times it; from zero to five packets of 1000 bytes, or to ten of what it counts. */
function placed({ value, unit }: Quantity, place: number): number {
  if (value !== 0) return value * 10 ** place;
  return place * (unit === "B" ? 5000 : 10);
}

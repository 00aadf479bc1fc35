// Sliders for what the link, the flows and the discipline are set to; each change is made at the present
// instant, or begins the run again where the simulator says so.

import { bytes, withUnit } from "../draw/numbers";
import type { Setting } from "../protocol";
import { numbersIn, type QueueNumber } from "../run/queue-text";
import { type Context, run } from "./context";
import { h, setText, unique } from "./dom";

/** Flows with sliders of their own at most. */
const FLOWS = 8;

interface Slider {
  label: string;
  value: number;
  /** A slider goes from a tenth to ten times its value. */
  show: (value: number) => string;
  settings: (value: number) => Setting;
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
    this.list.replaceChildren(...this.sliders().map((slider) => this.row(slider)));
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

  private sliders(): Slider[] {
    const pane = this.page.lab.panes[0];
    if (pane === undefined) return [];
    const { begun } = pane;
    const link = `links.${begun.link}`;
    const rate: Slider = {
      label: "rate of the link",
      value: begun.rate_bit_per_s,
      show: (value) => withUnit(value, "bit/s"),
      settings: (value) => [`${link}.rate`, `${Math.round(value)} bit/s`],
    };
    const buffer: Slider = {
      label: "buffer, packets",
      value: 20,
      show: (value) => `${Math.max(1, Math.round(value))} packets`,
      settings: (value) => [`${link}.limit`, `${Math.max(1, Math.round(value))} packets`],
    };
    const weights = begun.flows.slice(0, FLOWS).map(({ name, weight }) => ({
      label: `weight of ${name}`,
      value: weight,
      show: (value: number) => String(Number(value.toPrecision(2))),
      settings: (value: number): Setting => [`flows.${name}.weight`, String(Number(value.toPrecision(2)))],
    }));
    const sizes = begun.flows.slice(0, FLOWS).map(({ name }) => ({
      label: `packet size of ${name}`,
      value: 500,
      show: (value: number) => bytes(value),
      settings: (value: number): Setting => [`flows.${name}.traffic.packet`, `${Math.round(value)} B`],
    }));
    return [rate, buffer, ...this.ofQueues(), ...weights, ...sizes];
  }

  /** The numbers that the text of a pane's discipline holds. */
  private ofQueues(): Slider[] {
    return this.page.lab.panes.flatMap((pane) =>
      numbersIn(pane.begun.queue).map((number: QueueNumber) => ({
        label: `${number.name} of ${pane.name ?? `queue ${pane.index + 1}`}`,
        value: number.value,
        show: (value: number) => `${number.rounded(value)}${number.unit ? ` ${number.unit}` : ""}`,
        settings: (value: number): Setting => [`links.${pane.begun.link}.queue`, number.replaced(value)],
        pane: pane.index,
      })),
    );
  }

  private row(slider: Slider & { pane?: number }): HTMLElement {
    const id = unique("slider");
    const place = h("input", { id, type: "range", min: -1, max: 1, step: 0.02, value: 0 });
    const shown = h("output", { for: id }, slider.show(slider.value));
    const value = () => slider.value * 10 ** Number(place.value);
    place.addEventListener("input", () => {
      setText(shown, slider.show(value()));
      place.setAttribute("aria-valuetext", slider.show(value()));
    });
    place.setAttribute("aria-valuetext", slider.show(slider.value));
    place.addEventListener("change", () => this.set(slider.settings(value()), slider.pane));
    return h("div", { class: "slider" }, h("label", { for: id }, slider.label), place, shown);
  }

  private set(setting: Setting, only: number | undefined): void {
    const { lab } = this.page;
    for (const pane of lab.panes) {
      if (only === undefined || only === pane.index) run(lab.hand(pane.index, { set: setting }));
    }
  }
}

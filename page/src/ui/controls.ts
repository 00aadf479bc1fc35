// The bar of controls: on and back, play, speed, and the scrub bar.

import { instant } from "../draw/numbers";
import { type Context, run } from "./context";
import { h, setText } from "./dom";
import { type Icon, icon } from "./icons";
import { Scrub } from "./scrub";

/** Speeds that can be chosen, simulated seconds a second: 10^-6 to 10^3 in steps of a tenth of a decade. */
const SPEED = { least: -6, most: 3 };

export class Controls {
  readonly element: HTMLElement;
  private readonly page: Context;
  private readonly scrub: Scrub;
  private readonly play: HTMLButtonElement;
  private readonly stop: HTMLButtonElement;
  private readonly speed: HTMLInputElement;
  private readonly speedWords = h("output");
  private readonly time = h("span", { class: "time" });
  private readonly flow: HTMLSelectElement;
  private shown: Icon = "play";
  private readonly buttons: HTMLButtonElement[] = [];

  constructor(page: Context) {
    this.page = page;
    const { lab } = page;
    this.scrub = new Scrub(page);
    const button = (label: string, sign: Node | string, act: () => void, look = "") => {
      const made = h(
        "button",
        { type: "button", "aria-label": label, title: label, class: look, onclick: act },
        sign,
      );
      this.buttons.push(made);
      return made;
    };
    this.play = button("play (space)", icon("play"), () => this.toggle(), "main round");
    this.stop = h("button", { type: "button", class: "stop", onclick: () => lab.stop() }, "Stop");
    this.flow = h("select", { "aria-label": "flow whose next event is sought" });
    const range = { type: "range", min: SPEED.least, max: SPEED.most, step: 0.1, "aria-label": "speed" };
    this.speed = h("input", range);
    this.speed.addEventListener("input", () => {
      lab.speed = Number((10 ** Number(this.speed.value)).toPrecision(2));
      page.redraw();
    });
    const moves = h("div", { class: "row" });
    moves.append(button("restart (r)", icon("restart"), () => run(lab.restart())));
    moves.append(
      button("step back (←)", icon("back"), () => run(lab.back())),
      this.play,
    );
    moves.append(button("step: one event (→)", icon("step"), () => run(lab.step())));
    const events = h("div", { class: "row" });
    events.append(button("next decision (n)", "Next decision", () => run(lab.untilDecision())));
    events.append(
      button("next event of the flow (f)", "Next event of", () => this.nextOfFlow()),
      this.flow,
    );
    const pace = h("label", { class: "speed" }, h("span", {}, "speed"), this.speed, this.speedWords);
    this.element = h("div", { class: "controls", role: "group", "aria-label": "controls of the run" });
    this.element.append(moves, events, pace, this.stop, this.time, this.scrub.element);
  }

  toggle(): void {
    const { lab } = this.page;
    if (lab.playing) lab.pause();
    else if (lab.nowS >= lab.endS) run(lab.restart().then(() => lab.play()));
    else lab.play();
  }

  nextOfFlow(): void {
    const flow = this.flow.value === "" ? null : Number(this.flow.value);
    run(this.page.lab.untilEvent(["arrived", "began", "sent", "dropped", "marked"], flow));
  }

  begin(): void {
    const flows = this.page.lab.panes[0]?.begun.flows ?? [];
    const all = flows.slice(0, 500).map(({ name }, at) => h("option", { value: at }, name));
    this.flow.replaceChildren(h("option", { value: "" }, "any flow"), ...all);
    this.scrub.begin();
  }

  draw(): void {
    const { lab } = this.page;
    const words = lab.playing ? "pause (space)" : "play (space)";
    this.sign(lab.playing ? "pause" : "play", words);
    for (const button of this.buttons) button.disabled = lab.panes.length === 0;
    this.stop.hidden = lab.busy === null;
    if (document.activeElement !== this.speed) this.speed.value = String(Math.log10(lab.speed));
    const pace = `${Number(lab.speed.toPrecision(2))} s/s`;
    setText(this.speedWords, pace);
    this.speed.setAttribute("aria-valuetext", `${pace} simulated`);
    const busy = lab.busy === null ? "" : `${lab.busy.of}, ${Math.round(lab.busy.done * 100)} %`;
    setText(this.time, busy || `${instant(lab.clockS, lab.endS)} of ${Number(lab.endS.toPrecision(6))} s`);
    this.scrub.draw();
  }

  private sign(name: Icon, words: string): void {
    if (this.shown === name) return;
    this.shown = name;
    this.play.replaceChildren(icon(name));
    this.play.setAttribute("aria-label", words);
    this.play.title = words;
  }
}

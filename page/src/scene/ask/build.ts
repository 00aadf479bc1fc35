// "Make it so": the learner sends packets and changes settings until the claims hold.

import { h, unique } from "../../ui/dom";
import { button } from "../button";
import { type Outcome, outcomes, said } from "../claims";
import { stateOf } from "../state";
import type { Ask, SolutionStep } from "../types";
import { formatted } from "../words";
import type { Asking, End } from "./asking";

type AskBuild = Extract<Ask, { kind: "build" }>;

/** Shows the goal and how far it is, sends packets to all panes alike, and can show one way. */
export function askBuild(asking: Asking<AskBuild>): End {
  return new Building(asking).begin();
}

class Building {
  private readonly asking: Asking<AskBuild>;
  private readonly goals = h("ul", { class: "scene-goals" });
  private isDone = false;
  private isShown = false;
  private isMeasuring = false;
  private isStale = false;

  constructor(asking: Asking<AskBuild>) {
    this.asking = asking;
  }

  begin(): End {
    const { lab, place } = this.asking;
    place.append(h("h4", {}, "Goal"), this.goals, this.sender(), this.solver());
    const off = lab.on("change", () => this.look());
    this.look();
    return off;
  }

  /** Packets for all panes at the present instant, so that their arrivals stay the same. */
  private sender(): HTMLElement {
    const { lab } = this.asking;
    const ids = { flow: unique("flow"), bytes: unique("bytes"), count: unique("count") };
    const flow = h("select", { id: ids.flow });
    for (const [index, { name }] of (lab.panes[0]?.begun.flows ?? []).entries()) {
      flow.append(h("option", { value: String(index) }, name));
    }
    flow.selectedIndex = flow.options.length - 1;
    const bytes = h("input", {
      id: ids.bytes,
      type: "number",
      min: "40",
      max: "1500",
      value: "1000",
    });
    const count = h("input", { id: ids.count, type: "number", min: "1", max: "100", value: "1" });
    const send = button(
      "Send to all queues",
      async () => {
        const offer = { flow: Number(flow.value), bytes: Number(bytes.value), count: Number(count.value) };
        for (const pane of lab.panes) await lab.hand(pane.index, { offer });
      },
      "scene-first",
    );
    return h(
      "div",
      { class: "scene-sender" },
      h("label", { for: ids.flow }, "Flow"),
      flow,
      h("label", { for: ids.bytes }, "Bytes"),
      bytes,
      h("label", { for: ids.count }, "Packets"),
      count,
      send,
    );
  }

  private solver(): HTMLElement {
    const { lab, scene } = this.asking;
    const anew = button("Begin again", () => lab.load(stateOf(scene)));
    const show = button("Show one way", () => this.solve());
    return h("div", { class: "scene-row" }, anew, show);
  }

  /** The scene's own solution; nothing is scored for it. */
  private async solve(): Promise<void> {
    const { lab, scene, ask } = this.asking;
    this.isShown = true;
    await lab.load(stateOf(scene));
    for (const step of ask.solution) {
      await lab.runTo(step.at);
      await this.take(step);
    }
    await lab.runTo(scene.end);
  }

  private async take(step: SolutionStep): Promise<void> {
    const { lab } = this.asking;
    for (const pane of lab.panes) {
      if ("set" in step) {
        await lab.hand(pane.index, { set: step.set });
      } else {
        const flow = pane.begun.flows.findIndex(({ name }) => name === step.offer.flow);
        await lab.hand(pane.index, { offer: { ...step.offer, flow } });
      }
    }
  }

  /** Measures anew after a change, one measurement at a time. */
  private look(): void {
    if (this.isDone || this.asking.lab.busy !== null) return;
    this.isStale = true;
    if (this.isMeasuring) return;
    this.isMeasuring = true;
    this.measure()
      .catch(() => {})
      .finally(() => {
        this.isMeasuring = false;
      });
  }

  private async measure(): Promise<void> {
    const { lab, scene, finish } = this.asking;
    while (this.isStale && !this.isDone) {
      this.isStale = false;
      const flows = lab.panes[0]?.begun.flows ?? [];
      const measures = await Promise.all(lab.panes.map((pane) => pane.measures(scene.from)));
      const all = outcomes(scene, measures, flows);
      this.goals.replaceChildren(...all.map((outcome) => this.line(outcome)));
      this.isDone = all.every(({ holds }) => holds);
    }
    if (this.isDone) {
      lab.pause();
      finish(this.isShown ? null : 1);
    }
  }

  private line({ claim, value, holds }: Outcome): HTMLElement {
    const now = value === null ? "nothing measured yet" : `now ${formatted(value, claim.measure)}`;
    const made = h("li", {}, `${holds ? "✓" : "○"} ${said(claim, this.asking.scene)} (${now})`);
    made.dataset.holds = String(holds);
    return made;
  }
}

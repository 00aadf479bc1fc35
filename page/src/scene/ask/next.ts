// "Which packet leaves next?": the learner picks one, and the run shows which it is.

import type { Pane } from "../../lab";
import type { Waiting } from "../../protocol";
import { h } from "../../ui/dom";
import { button } from "../button";
import type { Ask } from "../types";
import { heads, packetName, sentence, tags, why } from "../words";
import type { Asking, End } from "./asking";

type AskNext = Extract<Ask, { kind: "next" }>;

/** Asks as many rounds as the scene says. */
export function askNext(asking: Asking<AskNext>): End {
  return new Rounds(asking).begin();
}

class Rounds {
  private round = 0;
  private right = 0;
  private isAsking = false;
  private readonly asking: Asking<AskNext>;
  private readonly choices = h("div", { class: "scene-choices" });
  private readonly answer = h("p", { class: "scene-answer", role: "status" });

  constructor(asking: Asking<AskNext>) {
    this.asking = asking;
  }

  begin(): End {
    const { lab, ask, place, openedAt } = this.asking;
    place.append(this.choices, this.answer);
    const off = lab.on("pick", (detail) => {
      const { pane, serial } = detail as { pane: number; serial: number };
      if (pane === ask.pane) this.pick(serial).catch(() => {});
    });
    const arrived = openedAt < ask.at ? lab.runTo(ask.at) : Promise.resolve();
    arrived.then(() => this.show()).catch(() => {});
    return () => {
      off();
      lab.pickMode = false;
    };
  }

  private pane(): Pane | undefined {
    return this.asking.lab.panes[this.asking.ask.pane];
  }

  /** Puts the question: a button for the first packet of each flow; a click on any packet counts too. */
  private show(): void {
    const pane = this.pane();
    if (pane === undefined) return;
    const { ask, lab } = this.asking;
    const label = h(
      "p",
      {},
      `Round ${this.round + 1} of ${ask.rounds}: pick a packet, here or in the picture.`,
    );
    const buttons = heads(pane.snapshot).map((packet) =>
      button(this.caption(packet, pane), () => this.pick(packet.serial), "scene-choice"),
    );
    this.choices.replaceChildren(label, ...buttons);
    this.isAsking = true;
    lab.active = pane.index;
    lab.pickMode = true;
  }

  private caption(packet: Waiting, pane: Pane): string {
    const numbers = [`${packet.bytes} B`, ...tags(packet)].join(", ");
    return `${sentence(packetName(packet, pane.begun.flows))} (${numbers})`;
  }

  private async pick(serial: number): Promise<void> {
    const pane = this.pane();
    if (!this.isAsking || pane === undefined) return;
    const picked = pane.snapshot.waiting.find((packet) => packet.serial === serial);
    if (picked === undefined) return;
    const { lab, ask, finish } = this.asking;
    this.isAsking = false;
    lab.pickMode = false;
    await lab.untilDecision(ask.pane);
    this.round += 1;
    this.tell(pane, picked);
    if (this.round < ask.rounds && heads(pane.snapshot).length > 0) return this.again();
    this.choices.replaceChildren();
    finish(this.right / this.round);
  }

  /** The next round; the focus stays with who answers by the keyboard. */
  private again(): void {
    const hadFocus =
      this.choices.contains(document.activeElement) || document.activeElement === document.body;
    this.show();
    if (hadFocus) this.choices.querySelector("button")?.focus();
  }

  private tell(pane: Pane, picked: Waiting): void {
    const { sending } = pane.snapshot;
    const isRight = sending !== null && sending.serial === picked.serial;
    if (isRight) this.right += 1;
    const left = sending === null ? "No packet left." : `It was ${packetName(sending, pane.begun.flows)}.`;
    const reason = why(pane.snapshot, pane.begun.flows).join(" ");
    this.answer.textContent = `${isRight ? "Right." : "No."} ${left} ${reason}`;
    this.answer.dataset.right = String(isRight);
    this.answer.dataset.round = String(this.round);
  }
}

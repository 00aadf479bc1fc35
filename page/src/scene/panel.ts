// The panel of one scene: what it is, its question, what came out, what to see.

import type { Lab } from "../lab";
import { h } from "../ui/dom";
import type { Asking, End } from "./ask/asking";
import { playToEnd } from "./ask/asking";
import { askBuild } from "./ask/build";
import { askNext } from "./ask/next";
import { askShares } from "./ask/shares";
import { askSwitch } from "./ask/switch";
import { button } from "./button";
import { outcomes, said } from "./claims";
import { keepScore } from "./score";
import type { Ask, Scene } from "./types";
import { formatted, measured } from "./words";

/** Where the learner can go from a scene. */
export interface Ways {
  list: () => void;
  next: (() => Promise<void>) | null;
}

/** Shows a scene that the laboratory has loaded; gives what ends it. */
export function openScene(lab: Lab, scene: Scene, panel: HTMLElement, ways: Ways): End {
  return new ScenePanel(lab, scene, panel, ways).open();
}

class ScenePanel {
  private readonly ends: End[] = [];
  private readonly result = h("div", { class: "scene-result", role: "status" });
  private readonly lab: Lab;
  private readonly scene: Scene;
  private readonly panel: HTMLElement;
  private readonly ways: Ways;

  constructor(lab: Lab, scene: Scene, panel: HTMLElement, ways: Ways) {
    this.lab = lab;
    this.scene = scene;
    this.panel = panel;
    this.ways = ways;
  }

  open(): End {
    const { scene } = this;
    const title = h("h2", {}, scene.title);
    title.tabIndex = -1;
    const place = h("div", { class: "scene-ask" });
    this.panel.replaceChildren(
      title,
      h("p", { class: "scene-sentence" }, scene.sentence),
      h("h3", {}, "Question"),
      h("p", { class: "scene-question" }, scene.ask.question),
      place,
      this.more("Hint", scene.ask.hint),
      this.result,
      this.more("Source", scene.about),
      this.wayOn(),
    );
    title.focus({ preventScroll: true });
    this.lab.active = 0;
    this.ends.push(this.begin(place));
    this.lab.say(`${scene.title}. ${scene.sentence} ${scene.ask.question}`);
    return () => {
      for (const end of this.ends) end();
    };
  }

  private more(summary: string, text: string): Node {
    if (text === "") return document.createTextNode("");
    return h("details", {}, h("summary", {}, summary), h("p", {}, text));
  }

  private wayOn(): HTMLElement {
    const all = button("All scenes", this.ways.list);
    const { next } = this.ways;
    return h("nav", { class: "scene-row" }, all, ...(next === null ? [] : [button("Next scene", next)]));
  }

  private begin(place: HTMLElement): End {
    const { lab, scene } = this;
    const openedAt = Math.max(0, ...lab.panes.map((pane) => pane.snapshot.now_s));
    const asking = <A extends Ask>(ask: A): Asking<A> => ({
      lab,
      scene,
      ask,
      place,
      openedAt,
      finish: (score, playsOn) => this.finish(score, playsOn),
    });
    const { ask } = scene;
    switch (ask.kind) {
      case "next":
        return askNext(asking(ask));
      case "shares":
        return askShares(asking(ask));
      case "build":
        return askBuild(asking(ask));
      case "switch":
        return askSwitch(asking(ask));
    }
  }

  /** The score and why; then what the scene claims, measured at its end. */
  private finish(score: number | null, playsOn = false): void {
    const { scene } = this;
    const head = score === null ? "" : `Score: ${Math.round(score * 100)} %. `;
    if (score !== null) keepScore(scene.id, score);
    const what = h("p", { class: "scene-reveal" }, `${head}${scene.ask.reveal}`);
    const place = h("div", { class: "scene-claims" });
    this.result.replaceChildren(h("h3", {}, "What happens"), what, place);
    this.result.dataset.score = String(score ?? "");
    this.toSee(place, playsOn);
  }

  private toSee(place: HTMLElement, playsOn: boolean): void {
    const { lab, scene } = this;
    const show = () => {
      this.measure(place).catch(() => {});
    };
    if (lab.panes.every((pane) => pane.snapshot.now_s >= scene.end - 1e-9)) {
      show();
      return;
    }
    const play = button(
      "Play to the end",
      () => {
        play.remove();
        this.ends.push(playToEnd(lab, scene, show));
      },
      "scene-first",
    );
    const skip = button("Skip to the end", async () => {
      play.remove();
      await lab.runTo(scene.end);
      show();
    });
    place.append(h("div", { class: "scene-row" }, play, skip));
    if (playsOn) play.click();
  }

  private async measure(place: HTMLElement): Promise<void> {
    const { lab, scene } = this;
    const flows = lab.panes[0]?.begun.flows ?? [];
    const measures = await Promise.all(lab.panes.map((pane) => pane.measures(scene.from)));
    const lines = outcomes(scene, measures, flows).map(({ claim, value, holds }) => {
      const now = value === null ? "not measured" : `measured ${formatted(value, claim.measure)}`;
      const made = h("li", {}, `${holds ? "✓" : "✗"} ${said(claim, scene)} (${now})`);
      made.dataset.holds = String(holds);
      return made;
    });
    const all = measures.map((of, index) => h("p", {}, measured(scene.panes[index]?.name ?? "", of, flows)));
    place.replaceChildren(h("h3", {}, "What to see"), h("ul", { class: "scene-goals" }, ...lines), ...all);
  }
}

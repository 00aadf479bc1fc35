// The scenes' part of the page: the list, and the panel of the open scene.

import { scenes } from "virtual:scenes";
import type { Lab } from "../lab";
import { h } from "../ui/dom";
import { button } from "./button";
import { openScene } from "./panel";
import { scores } from "./score";
import { sceneOf, stateOf } from "./state";
import "./scene.css";

export { fillScene, stateOf } from "./state";

export interface SceneInfo {
  id: string;
  title: string;
  /** The best score so far, 0 to 1; `null` before the first. */
  score: number | null;
}

export interface SceneControl {
  list(): SceneInfo[];
  /** Opens a scene. `isLoaded`: the laboratory shows it already, as after a link. */
  open(id: string, isLoaded?: boolean): Promise<void>;
  /** Ends the open scene and shows the list; what the laboratory shows stays. */
  close(): void;
  readonly current: string | null;
}

/** Puts the scenes into a panel of the page. */
export function mountScenes(lab: Lab, panel: HTMLElement): SceneControl {
  return new Scenes(lab, panel);
}

class Scenes implements SceneControl {
  current: string | null = null;
  private readonly lab: Lab;
  private readonly panel: HTMLElement;
  private end: () => void = () => {};

  constructor(lab: Lab, panel: HTMLElement) {
    this.lab = lab;
    this.panel = panel;
    panel.classList.add("scenes");
    this.showList();
  }

  list(): SceneInfo[] {
    const best = scores();
    return scenes.map(({ id, title }) => ({ id, title, score: best[id] ?? null }));
  }

  async open(id: string, isLoaded = false): Promise<void> {
    const scene = sceneOf(id);
    if (scene === undefined)
      throw new Error(`There is no scene "${id}"; the list of scenes has all there are.`);
    if (!isLoaded) await this.lab.load(stateOf(scene));
    this.end();
    this.current = id;
    this.panel.dataset.scene = id;
    const next = scenes[scenes.indexOf(scene) + 1];
    this.end = openScene(this.lab, scene, this.panel, {
      list: () => this.leave(),
      next: next === undefined ? null : () => this.open(next.id),
    });
  }

  close(): void {
    this.end();
    this.end = () => {};
    this.current = null;
    delete this.panel.dataset.scene;
    this.showList();
  }

  private leave(): void {
    this.close();
    this.panel.querySelector("button")?.focus();
  }

  private showList(): void {
    const items = this.list().map(({ id, title, score }) => {
      const made = h(
        "li",
        {},
        button(title, () => this.open(id), "scene-link"),
      );
      if (score !== null) made.append(h("span", { class: "scene-score" }, `${Math.round(score * 100)} %`));
      return made;
    });
    this.panel.replaceChildren(
      h("h2", {}, "Scenes"),
      h("p", {}, "Each asks before it shows. Predict, then see."),
      h("ol", { class: "scene-list" }, ...items),
    );
  }
}

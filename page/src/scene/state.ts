// A scene as a state of the laboratory.

import { scenes } from "virtual:scenes";
import type { State } from "../lab";
import type { Scene } from "./types";

/** The scene of this name, if there is one. */
export function sceneOf(id: string): Scene | undefined {
  return scenes.find((scene) => scene.id === id);
}

/** The state in which a scene opens. A scene that asks to switch shows its first pane at first. */
export function stateOf(scene: Scene, all = scene.ask.kind !== "switch"): State {
  const panes = all ? scene.panes : scene.panes.slice(0, 1);
  return {
    v: 1,
    scene: scene.id,
    text: scene.scenario,
    name: `${scene.id}.toml`,
    seed: scene.seed,
    link: scene.link,
    panes: panes.map(({ name, sets }) => ({ name, sets: [...sets], log: [] })),
    speed: scene.speed,
  };
}

/** A state that names a scene, with what it leaves out taken from the scene. */
export function fillScene(state: State): State {
  if (state.scene === undefined || state.text !== undefined) return state;
  const scene = sceneOf(state.scene);
  if (scene === undefined)
    throw new Error(`There is no scene "${state.scene}"; the list of scenes has all there are.`);
  const own = stateOf(scene);
  return { ...own, ...state, panes: (state.panes ?? []).length > 0 ? state.panes : own.panes };
}

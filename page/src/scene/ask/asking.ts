// What a way of asking is given, and what it gives back.

import type { Lab } from "../../lab";
import type { Ask, Scene } from "../types";

export interface Asking<A extends Ask = Ask> {
  lab: Lab;
  scene: Scene;
  ask: A;
  /** Where it puts its controls. */
  place: HTMLElement;
  /** The instant at which the scene was opened, 0 unless by a link. */
  openedAt: number;
  /**
   * Ends the question: what was scored, 0 to 1, or `null` where nothing is right or wrong. `playsOn`: the
   * run goes on to its end at once.
   */
  finish(score: number | null, playsOn?: boolean): void;
}

/** Ends a way of asking: its listeners go. */
export type End = () => void;

/** Runs a scene on to its end with the clock, and tells when it has reached it. */
export function playToEnd(lab: Lab, scene: Scene, reached: () => void): End {
  const isThere = () => lab.panes.every((pane) => pane.snapshot.now_s >= scene.end - 1e-9);
  const off = lab.on("change", () => {
    if (!isThere() || lab.busy !== null) return;
    off();
    lab.pause();
    reached();
  });
  if (isThere()) {
    off();
    reached();
  } else {
    lab.play();
  }
  return off;
}

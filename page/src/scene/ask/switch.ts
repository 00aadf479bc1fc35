// One button: the second queue beside the first, on the same arrivals.

import { button } from "../button";
import { stateOf } from "../state";
import type { Ask } from "../types";
import type { Asking, End } from "./asking";

type AskSwitch = Extract<Ask, { kind: "switch" }>;

/** Plays the queue that fails, and shows the button; a press begins both queues together. */
export function askSwitch({ lab, scene, ask, place, openedAt, finish }: Asking<AskSwitch>): End {
  if (lab.panes.length === scene.panes.length) {
    finish(null);
    return () => {};
  }
  const press = button(
    ask.button,
    async () => {
      await lab.load(stateOf(scene, true));
      press.remove();
      finish(null, true);
    },
    "scene-first",
  );
  place.append(press);
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (openedAt === 0 && !isCalm) lab.play();
  return () => {};
}

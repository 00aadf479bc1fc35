// One button: the second queue beside the first, on the same arrivals.

import { button } from "../button";
import { stateOf } from "../state";
import type { Ask } from "../types";
import type { Asking, End } from "./asking";

type AskSwitch = Extract<Ask, { kind: "switch" }>;

/** Shows the button; a press begins both queues together. */
export function askSwitch({ lab, scene, ask, place, finish }: Asking<AskSwitch>): End {
  const isBoth = lab.panes.length === scene.panes.length;
  const press = button(
    ask.button,
    async () => {
      press.remove();
      await lab.load(stateOf(scene, true));
      finish(null);
      lab.play();
    },
    "scene-first",
  );
  if (isBoth) finish(null);
  else place.append(press);
  return () => {};
}

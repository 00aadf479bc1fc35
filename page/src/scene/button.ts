// A button of the scenes' panel.

import { h } from "../ui/dom";

/** A button that does something; a fault in it is the page's to tell. */
export function button(
  text: string,
  act: () => void | Promise<void>,
  look = "scene-second",
): HTMLButtonElement {
  const onclick = () => {
    // The laboratory has told its listeners of a fault before it comes here.
    Promise.resolve(act()).catch(() => {});
  };
  return h("button", { type: "button", class: look, onclick }, text);
}

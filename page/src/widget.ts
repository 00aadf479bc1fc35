// The lab as one module, for a notebook or a page of someone else's.

import css from "virtual:styles";
import { parts } from "./inside";
import type { Lab } from "./lab";
import { type Options, mount as put } from "./mount";

/** Puts the lab into an element, with its styles. */
export function mount(element: HTMLElement, options: Options = {}): Promise<Lab> {
  const root = element.getRootNode() as Document | ShadowRoot;
  const head = root instanceof Document ? root.head : root;
  if (head.querySelector("style[data-fairq-lab]") === null) {
    const style = document.createElement("style");
    style.dataset.fairqLab = "";
    style.textContent = css;
    head.append(style);
  }
  return put(element, options, parts);
}

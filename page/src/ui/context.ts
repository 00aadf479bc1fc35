// What every part of the page is given.

import type { Theme } from "../draw/colours";
import type { Named } from "../draw/queue";
import type { About } from "../protocol";
import type { Laboratory } from "../run/laboratory";

export interface Context {
  lab: Laboratory;
  about: About;
  /** The element that the page lives in. */
  root: HTMLElement;
  theme(): Theme;
  /** A packet that lights in both panes. */
  lit: Named | null;
  /** Draws anew in the next frame. */
  redraw(): void;
}

/** Runs what a button or key asks; a fault has been told when it comes here. */
export function run(work: Promise<unknown>): void {
  work.catch(() => {});
}

// The keyboard: a table of keys, which is also the list that `?` shows.

import { type Context, run } from "./context";
import type { Controls } from "./controls";
import { openInject } from "./menu";
import type { PaneView } from "./pane-view";

export interface Keyboard {
  page: Context;
  controls: Controls;
  view(): PaneView | undefined;
  scenes(): void;
  scenario(): void;
  save(): void;
  help(): void;
}

interface Key {
  keys: string[];
  words: string;
  act: (board: Keyboard, key: string) => void;
}

export const KEYS: Key[] = [
  { keys: ["Space"], words: "play, pause", act: ({ controls }) => controls.toggle() },
  { keys: ["→"], words: "step: one event", act: ({ page }) => run(page.lab.step()) },
  { keys: ["←"], words: "step back", act: ({ page }) => run(page.lab.back()) },
  { keys: ["n"], words: "next decision", act: ({ page }) => run(page.lab.untilDecision()) },
  { keys: ["f"], words: "next event of the chosen flow", act: ({ controls }) => controls.nextOfFlow() },
  { keys: ["r"], words: "restart, with the changes", act: ({ page }) => run(page.lab.restart()) },
  { keys: ["+", "-"], words: "faster, slower", act: ({ page }, key) => pace(page, key) },
  { keys: ["1", "2"], words: "first pane, second pane", act: ({ page }, key) => choosePane(page, key) },
  {
    keys: ["q"],
    words: "go to the queue: arrows choose a packet, Enter opens its menu",
    act: (board) => board.view()?.canvas.focus(),
  },
  { keys: ["i"], words: "put packets in", act: inject },
  { keys: ["d"], words: "drop the chosen packet", act: (board) => board.view()?.act("drop") },
  { keys: ["m"], words: "mark the chosen packet", act: (board) => board.view()?.act("mark") },
  { keys: ["h"], words: "delay the chosen packet", act: (board) => board.view()?.act("hold") },
  { keys: ["u"], words: "undo the last change by hand", act: ({ page }) => run(page.lab.undo()) },
  { keys: ["s"], words: "list of scenes", act: (board) => board.scenes() },
  { keys: ["e"], words: "edit the scenario", act: (board) => board.scenario() },
  { keys: ["w"], words: "share and save", act: (board) => board.save() },
  { keys: ["Esc"], words: "stop a long run, close a dialog", act: ({ page }) => page.lab.stop() },
  { keys: ["?"], words: "this list", act: (board) => board.help() },
];

const NAMES: Record<string, string> = {
  " ": "Space",
  ArrowRight: "→",
  ArrowLeft: "←",
  Escape: "Esc",
  "=": "+",
};

/** Listens; gives what ends it. */
export function listen(place: Document | HTMLElement, board: Keyboard): () => void {
  const hear = (raw: Event) => {
    const event = raw as KeyboardEvent;
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    const name = NAMES[event.key] ?? event.key;
    const key = KEYS.find(({ keys }) => keys.includes(name));
    if (key === undefined || isTaken(event, name)) return;
    event.preventDefault();
    key.act(board, name);
  };
  place.addEventListener("keydown", hear);
  return () => place.removeEventListener("keydown", hear);
}

/** The element in focus has its own use for the key, or a dialog is open. */
function isTaken(event: KeyboardEvent, name: string): boolean {
  const target = event.target as HTMLElement;
  if (target.ownerDocument.querySelector("dialog[open]") !== null) return true;
  if (name === "Esc") return false;
  if (target.matches("textarea, select, input:not([type=range]):not([type=checkbox])")) return true;
  if (target.matches("input") && (name === "→" || name === "←")) return true;
  return name === "Space" && target.matches("button, summary, input, a");
}

function pace(page: Context, key: string): void {
  page.lab.speed = Number((page.lab.speed * (key === "+" ? 2 : 0.5)).toPrecision(2));
  page.lab.say(`Speed ${page.lab.speed} simulated seconds a second.`);
  page.redraw();
}

function choosePane(page: Context, key: string): void {
  const index = key === "1" ? 0 : 1;
  const pane = page.lab.panes[index];
  if (pane === undefined) return;
  page.lab.active = index;
  page.lab.say(`Pane ${key}: ${pane.begun.queue}.`);
  page.redraw();
}

function inject(board: Keyboard): void {
  const view = board.view();
  if (view === undefined) return;
  openInject(board.page, view.index, view.chosen()?.flow ?? 0, view.canvas);
}

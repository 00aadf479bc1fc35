// What the page offers to scenes, to keys, to a frame around it and to tests.

import type { Begun, Entry, Hand, Measures, Setting, Snapshot } from "./protocol";

export type { Begun, Entry, FlowInfo, Hand, Measures, Setting, Snapshot } from "./protocol";

/** One pane of a state: how its scenario differs from the text, and what was changed by hand. */
export interface PaneState {
  name?: string;
  sets: Setting[];
  log: Entry[];
}

/** All that a picture is made from; the address keeps it. */
export interface State {
  v: 1;
  fairq?: string;
  /** A scene of the page; its text, link and speed then need not be said. */
  scene?: string;
  text?: string;
  name?: string;
  files?: Record<string, string>;
  seed?: number;
  link?: string | null;
  direction?: "forward" | "reverse" | null;
  panes: PaneState[];
  /** The step at which each pane stands. */
  step?: number[];
  /** Simulated seconds a second. */
  speed?: number;
}

export interface Pane {
  readonly index: 0 | 1;
  begun: Begun;
  snapshot: Snapshot;
  measures(fromS: number): Promise<Measures>;
}

export type LabEvent = "change" | "begin" | "ended" | "fault" | "pick";

export interface Lab {
  panes: Pane[];
  playing: boolean;
  busy: { of: string; done: number } | null;
  /**
   * Shows a state. With `scene` and without `text` the scene's own text, link, seed, panes and speed fill
   * it in; `scene` stays part of the state until another is loaded.
   */
  load(state: State): Promise<void>;
  state(): State;
  play(): void;
  pause(): void;
  step(): Promise<void>;
  back(): Promise<void>;
  runTo(timeS: number): Promise<void>;
  seek(timeS: number): Promise<void>;
  /** On to the next transmission that was chosen. */
  untilDecision(pane?: number): Promise<void>;
  hand(pane: number, hand: Hand): Promise<void>;
  on(what: LabEvent, listener: (detail?: unknown) => void): () => void;
  /** The pane that keys, buttons and the live text mean. */
  active: 0 | 1;
  /** A click picks a packet (`pick`: {pane, serial}) instead of opening its menu. */
  pickMode: boolean;
  /** Text that is shown and read aloud. */
  say(text: string): void;
}

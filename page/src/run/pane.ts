// One pane: a run of the simulator, what stands in its queue now, and what was changed by hand.

import type { Pane, PaneState, State } from "../lab";
import type { Begun, Card, Entry, Measures, QueueEvent, Setting, Snapshot } from "../protocol";
import type { Client } from "./client";

export class PaneRun implements Pane {
  readonly index: 0 | 1;
  name: string | undefined;
  sets: Setting[];
  log: Entry[];
  begun!: Begun;
  snapshot!: Snapshot;
  card: Card | null = null;
  /** What happened on the way to this instant; a look that finds none keeps the instant's own. */
  events: QueueEvent[] = [];
  private readonly client: Client;

  constructor(client: Client, index: 0 | 1, state: PaneState) {
    this.client = client;
    this.index = index;
    this.name = state.name;
    this.sets = state.sets;
    this.log = state.log;
  }

  /** Begins the run from its seed. */
  async begin(state: State): Promise<void> {
    const { text, name, files, seed, link, direction } = state;
    const asked = { text, name, files, seed: seed ?? 1, link: link ?? null, direction: direction ?? null };
    const sets = this.sets.map(([path, value]) => [path, String(value)]);
    this.begun = await this.client.ask("begin", { run: this.index, ...asked, sets, log: this.log });
    this.card = await this.client.ask("card", { of: this.begun.queue }).catch(() => null);
  }

  /** Looks at the present instant. */
  async look(): Promise<Snapshot> {
    return this.seen(await this.client.ask("look", { run: this.index }));
  }

  /** A look whose events belong to a move that has not ended. */
  async peek(): Promise<Snapshot> {
    const snapshot = await this.client.ask("look", { run: this.index });
    this.ahead.push(...snapshot.events);
    return snapshot;
  }

  private ahead: QueueEvent[] = [];

  /** Takes a snapshot as what is shown. */
  seen(snapshot: Snapshot): Snapshot {
    const events = [...this.ahead, ...snapshot.events];
    this.ahead = [];
    if (events.length > 0 || snapshot.steps !== this.snapshot?.steps) this.events = events;
    this.snapshot = snapshot;
    return snapshot;
  }

  async measures(fromS: number): Promise<Measures> {
    const to_s = this.snapshot.now_s;
    const history = await this.client.ask("history", { run: this.index, from_s: fromS, to_s, bins: 1 });
    return history.measures;
  }
}

// The runs that the page holds, and all that can be done with them; the interface `Lab` in full.

import type { Lab, Pane, PaneState, State } from "../lab";
import type { Entry, Hand, QueueEvent, Read, Setting, Source, Where } from "../protocol";
import { type Client, Fault, Lost } from "./client";
import { Events } from "./events";
import { begun, opening, usualSpeed } from "./opening";
import { PaneRun } from "./pane";
import { Player } from "./player";

/** Fills in a state that names a scene and holds no text; faults if there is no such scene. */
export type FillScene = (state: State) => State;

/** Decisions that are looked at before the search gives up: a gateway of one flow never chooses. */
const DECISIONS_AT_MOST = 300;

export class Laboratory extends Events implements Lab {
  panes: (PaneRun & Pane)[] = [];
  busy: { of: string; done: number } | null = null;
  pickMode = false;
  /** The pane that keys and buttons mean. */
  active: 0 | 1 = 0;
  speed = 1;
  read: Read | null = null;
  /** What `say` writes to; the page sets it. */
  onSay: (text: string) => void = () => {};
  /** Called when what was asked has been done; a fault told before it is no longer of interest. */
  onDone: () => void = () => {};

  readonly client: Client;
  private readonly version: string;
  private readonly fill: FillScene;
  private readonly player: Player;
  private shown: State | null = null;
  /** Where runs were before and after each step, so that the way back is exact. */
  private stops: { before: number[]; after: number[] }[] = [];
  private queue: Promise<unknown> = Promise.resolve();
  private stopLong: (() => void) | null = null;
  private stopped = false;

  constructor(client: Client, version: string, fill: FillScene) {
    super();
    this.client = client;
    this.version = version;
    this.fill = fill;
    this.player = new Player(this);
  }

  get playing(): boolean {
    return this.player.playing;
  }

  /** The instant that is drawn, which moves between events while the run plays. */
  get clockS(): number {
    return this.player.playing ? this.player.clockS : this.nowS;
  }

  get nowS(): number {
    return Math.max(0, ...this.panes.map((pane) => pane.snapshot.now_s));
  }

  get endS(): number {
    return this.panes[0]?.begun.end_s ?? 0;
  }

  get source(): Source | null {
    const { text, name, files } = this.shown ?? {};
    return text === undefined ? null : { name: name ?? "scenario.toml", text, ...(files && { files }) };
  }

  get scene(): string | null {
    return this.shown?.scene ?? null;
  }

  say(text: string): void {
    this.onSay(text);
  }

  /** Shows a state; if it is refused, what was shown stays. */
  load(state: State): Promise<void> {
    return this.alone(async () => {
      const before =
        this.shown === null
          ? null
          : { state: this.state(), at: this.panes.map((pane) => pane.snapshot.now_s) };
      try {
        await this.show(this.fill(state));
      } catch (fault) {
        if (before !== null) await this.restore(before);
        throw fault;
      }
    });
  }

  /** Opens a scenario: the first values of its first axis side by side, or one pane. */
  async open(source: Source, more: Partial<State> = {}): Promise<void> {
    const read = await this.caught(() => this.client.ask("read", { ...source, sets: [] }));
    const panes = opening(read).map((point) => ({ ...point, log: [] }));
    await this.load({ v: 1, ...source, panes, ...more });
  }

  state(): State {
    const shown = this.shown;
    if (shown === null) throw new Error("no state is shown");
    const panes = this.panes.map(({ name, sets, log }) => ({ ...(name && { name }), sets, log }));
    const step = this.panes.map((pane) => pane.snapshot.steps);
    const { scene, text, name, files, seed, link, direction } = shown;
    const source = scene === undefined ? { text, name, ...(files && { files }) } : { scene };
    const given = {
      ...(seed !== undefined && { seed }),
      ...(link && { link }),
      ...(direction && { direction }),
    };
    return { v: 1, fairq: this.version, ...source, ...given, panes, step, speed: this.speed } as State;
  }

  play(): void {
    this.player.play();
  }

  pause(): void {
    this.player.pause();
  }

  /** Ends a long run where it is. */
  stop(): void {
    this.pause();
    this.stopped = true;
    this.stopLong?.();
  }

  step(): Promise<void> {
    return this.moved(async (pane) => {
      await this.client.ask("step", { run: pane.index });
    });
  }

  /** On to the next event of the shown link, of one flow or of all. */
  untilEvent(events: QueueEvent["event"][], flow: number | null = null): Promise<void> {
    return this.moved((pane) => this.until(pane, events, flow).then(() => {}));
  }

  untilDecision(index?: number): Promise<void> {
    return this.moved(async (pane) => {
      for (let tried = 0; tried < DECISIONS_AT_MOST; tried += 1) {
        const where = await this.until(pane, ["began"], null);
        if (!where.found) return;
        const { decision, sending } = await pane.peek();
        if (decision !== null && sending !== null && decision.serial === sending.serial) return;
        if (this.stopped) return;
      }
      this.say(`None of the next ${DECISIONS_AT_MOST} packets was chosen among others.`);
    }, index);
  }

  back(): Promise<void> {
    return this.alone(async () => {
      const here = this.panes.map((pane) => pane.snapshot.steps);
      const last = this.stops.pop();
      if (last !== undefined && `${last.after}` === `${here}`) return this.again(last.before);
      this.stops = [];
      const active = this.pane();
      const steps = active.snapshot.steps - 1;
      if (steps < 0) return;
      await active.begin(this.seedOf());
      await this.far("go", active, { to_step: steps });
      await this.follow(active, true);
      await this.lookAll();
    });
  }

  runTo(timeS: number): Promise<void> {
    return this.seek(timeS);
  }

  /** To an instant: onwards, or from the seed again if it lies behind. */
  seek(timeS: number): Promise<void> {
    return this.alone(async () => {
      const to = Math.min(Math.max(timeS, 0), this.endS);
      this.stops = [];
      for (const pane of this.panes) {
        if (to < pane.snapshot.now_s) await pane.begin(this.seedOf());
        if (to > 0) await this.far("advance", pane, { to_s: to });
      }
      await this.lookAll();
    });
  }

  /** The run from the seed again, with what was changed by hand or without. */
  restart(keepLog = true): Promise<void> {
    if (!keepLog) for (const pane of this.panes) pane.log = [];
    return this.alone(() => this.again(this.panes.map(() => 0)));
  }

  hand(index: number, hand: Hand): Promise<void> {
    return this.alone(async () => {
      const pane = this.pane(index);
      const here = this.panes.map((each) => each.snapshot.steps);
      if (pane.log.some((entry) => entry.step > pane.snapshot.steps)) {
        pane.log = pane.log.filter((entry) => entry.step <= pane.snapshot.steps);
        await this.again(here);
      }
      try {
        const { entry } = await this.client.ask("hand", { run: index, hand });
        pane.log = [...pane.log, entry];
      } catch (fault) {
        if (!(fault instanceof Fault) || !fault.body.restart || !("set" in hand)) throw fault;
        await this.anew(pane, hand.set);
      }
      await this.lookAll();
    });
  }

  /** Takes the last change by hand back, in the pane meant. */
  undo(): Promise<void> {
    return this.alone(async () => {
      const pane = this.pane();
      pane.log = pane.log.slice(0, -1);
      await this.again(this.panes.map((each) => each.snapshot.steps));
    });
  }

  /** Another text of what is shown: link, panes, seed; the instant is kept. */
  async change(change: Partial<State>): Promise<void> {
    const at = this.nowS;
    const { step: _, ...state } = { ...this.state(), ...change };
    await this.load(state);
    if (at > 0) await this.seek(at);
  }

  // Steps of the work; each runs alone.

  private async show(state: State): Promise<void> {
    this.player.halt();
    const { text, name, files } = state;
    const first = state.panes[0]?.sets ?? [];
    const read = await this.client.ask("read", { text, name, files, sets: first });
    const panes = state.panes.slice(0, 2).map((pane, index) => this.made(pane, index as 0 | 1));
    this.shown = await begun(panes, state);
    this.read = read;
    this.stops = [];
    this.active = panes.length > this.active ? this.active : 0;
    for (const pane of panes) {
      const steps = state.step?.[pane.index] ?? 0;
      if (steps > 0) await this.far("go", pane, { to_step: steps });
      await pane.look();
    }
    this.panes = panes;
    this.speed = state.speed ?? usualSpeed(panes[0]?.begun.rate_bit_per_s ?? 1e6);
    this.emit("begin");
    this.emit("change");
  }

  /** What was shown before a state that was refused, at the same instants. */
  private async restore({ state, at }: { state: State; at: number[] }): Promise<void> {
    await this.show(this.fill(state));
    for (const pane of this.panes) await this.far("advance", pane, { to_s: at[pane.index] ?? 0 });
    await this.lookAll();
  }

  private made(state: PaneState, index: 0 | 1): PaneRun {
    return new PaneRun(this.client, index, state);
  }

  private pane(index: number = this.active): PaneRun {
    const pane = this.panes[index];
    if (pane === undefined) throw new Error(`no pane ${index + 1} is shown`);
    return pane;
  }

  private seedOf(): State {
    if (this.shown === null) throw new Error("no state is shown");
    return this.shown;
  }

  /** All runs from the seed again, each to a step. */
  private async again(steps: number[]): Promise<void> {
    for (const pane of this.panes) {
      await pane.begin(this.seedOf());
      await this.far("go", pane, { to_step: steps[pane.index] ?? 0 });
    }
    await this.lookAll();
  }

  /** A setting that no run takes while it goes: the run begins again with it. */
  private async anew(pane: PaneRun, set: Setting): Promise<void> {
    const { sets, log } = pane;
    const at = pane.snapshot.now_s;
    pane.sets = [...sets.filter(([path]) => path !== set[0]), set];
    pane.log = [];
    try {
      await pane.begin(this.seedOf());
    } catch (fault) {
      pane.sets = sets;
      pane.log = log;
      await pane.begin(this.seedOf());
      await this.far("go", pane, { to_step: pane.snapshot.steps });
      throw fault;
    }
    if (at > 0) await this.far("advance", pane, { to_s: at });
    this.stops = [];
    const lost = log.length > 0 ? " Its changes by hand are gone." : "";
    this.say(`${set[0]} cannot change in a run: the run began again from its seed with ${set[1]}.${lost}`);
    await pane.look();
    this.emit("begin");
  }

  /** A move of one pane; the other goes on to the same instant, and the way back is kept. */
  private moved(move: (pane: PaneRun) => Promise<void>, index?: number): Promise<void> {
    return this.alone(async () => {
      const before = this.panes.map((pane) => pane.snapshot.steps);
      const pane = this.pane(index);
      await move(pane);
      await this.follow(pane, false);
      await this.lookAll();
      this.stops.push({ before, after: this.panes.map((each) => each.snapshot.steps) });
    });
  }

  private async follow(leader: PaneRun, afresh: boolean): Promise<void> {
    const { now_s } = await leader.peek();
    for (const pane of this.panes) {
      if (pane === leader) continue;
      if (afresh) await pane.begin(this.seedOf());
      await this.far("advance", pane, { to_s: now_s });
    }
  }

  private until(pane: PaneRun, events: string[], flow: number | null): Promise<Where> {
    return this.far("until", pane, { events, flow, to_s: pane.begun.end_s });
  }

  private async far(
    what: "advance" | "go" | "until",
    pane: PaneRun,
    rest: Record<string, unknown>,
  ): Promise<Where> {
    const goal = typeof rest.to_s === "number" ? rest.to_s : this.nowS;
    const most = this.stopped ? 1 : undefined;
    const job = this.client.long(what, { run: pane.index, ...rest, ...(most && { most }) }, (nowS) => {
      this.busy = {
        of: `running to ${goal.toPrecision(4)} s`,
        done: goal > 0 ? Math.min(nowS / goal, 1) : 0,
      };
      this.emit("change");
    });
    this.stopLong = job.stop;
    if (this.stopped) job.stop();
    try {
      return await job.done;
    } finally {
      this.stopLong = null;
      this.busy = null;
    }
  }

  private async lookAll(): Promise<void> {
    for (const pane of this.panes) await pane.look();
    this.emit("change");
    if (this.nowS >= this.endS) this.emit("ended");
  }

  /** Runs work after all that was asked before, with the player halted. */
  private alone(work: () => Promise<void>): Promise<void> {
    return this.turn(async () => {
      this.stopped = false;
      await this.caught(work);
      this.onDone();
    }, true);
  }

  /** The player's part of the same order. */
  turn<T>(work: () => Promise<T>, halts = false): Promise<T> {
    if (halts) this.player.halt();
    const done = this.queue.then(work);
    this.queue = done.catch(() => {});
    return done;
  }

  /** Tells listeners of a fault, and throws it on. */
  async caught<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (fault) {
      this.emit("fault", fault instanceof Error ? fault.message : String(fault));
      if (fault instanceof Lost) await this.revive();
      throw fault;
    }
  }

  /** After a failure inside the simulator: what was shown, from its seed and without changes by hand. */
  private async revive(): Promise<void> {
    if (this.shown === null) return;
    const panes = this.shown.panes.map((pane) => ({ ...pane, log: [] as Entry[] }));
    const { step: _, ...state } = this.shown;
    await this.show({ ...state, panes }).catch(() => {});
  }
}

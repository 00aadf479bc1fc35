// Plays the runs: simulated time goes on with the clock, as fast as the speed says or the simulator can.

import type { Snapshot, Where } from "../protocol";
import type { Laboratory } from "./laboratory";

/** Events of a frame at most, so that a frame never waits long. */
const MOST = 4000;
/** With reduced motion the picture is drawn anew this often, milliseconds. */
const CALM_MS = 600;

export class Player {
  playing = false;
  clockS = 0;
  private readonly lab: Laboratory;
  private last = 0;
  private asked = false;

  constructor(lab: Laboratory) {
    this.lab = lab;
  }

  play(): void {
    if (this.playing || this.lab.panes.length === 0 || this.lab.nowS >= this.lab.endS) return;
    this.playing = true;
    this.clockS = this.lab.nowS;
    this.last = performance.now();
    requestAnimationFrame((now) => this.frame(now));
    this.lab.emit("change");
  }

  pause(): void {
    if (!this.playing) return;
    this.halt();
    this.lab.emit("change");
  }

  /** Ends the playing without a word: other work comes first. */
  halt(): void {
    this.playing = false;
  }

  private frame(now: number): void {
    if (!this.playing) return;
    requestAnimationFrame((next) => this.frame(next));
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (this.asked || (calm && now - this.last < CALM_MS)) return;
    const passed = Math.min(Math.max(now - this.last, 0), calm ? CALM_MS : 100) / 1000;
    this.last = now;
    this.clockS = Math.min(this.clockS + passed * this.lab.speed, this.lab.endS);
    this.asked = true;
    const advanced = this.lab.turn(() => this.advance());
    advanced
      .catch((fault: unknown) => {
        this.pause();
        return this.lab.caught(() => Promise.reject(fault)).catch(() => {});
      })
      .finally(() => {
        this.asked = false;
      });
  }

  private async advance(): Promise<void> {
    if (!this.playing) return;
    const { panes, client } = this.lab;
    const to_s = this.clockS;
    const answers = await client.batch([
      ...panes.map((pane) => ({ do: "advance" as const, run: pane.index, to_s, most: MOST })),
      ...panes.map((pane) => ({ do: "look" as const, run: pane.index })),
    ]);
    const wheres = answers.slice(0, panes.length) as Where[];
    panes.forEach((pane, at) => {
      pane.seen(answers[panes.length + at] as Snapshot);
    });
    const late = wheres.filter((where) => !where.reached).map((where) => where.now_s);
    this.clockS = Math.min(this.clockS, ...late);
    const ended = this.clockS >= this.lab.endS;
    if (ended) this.halt();
    this.lab.emit("change");
    if (ended) this.lab.emit("ended");
  }
}

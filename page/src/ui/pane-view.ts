// One pane on the page: its heading, the picture, and choosing packets by pointer and keys.

import { fitted } from "../draw/canvas-brush";
import { type Hit, type Named, QueuePicture, type Scene } from "../draw/queue";
import type { PaneRun } from "../run/pane";
import { type Context, run } from "./context";
import { h, setText } from "./dom";
import { openInject, openPacketMenu } from "./menu";
import { QueueField } from "./queue-field";
import { Strip } from "./strip";
import { Why } from "./why";

/** While the run plays, reasons and readings are shown this often, milliseconds. */
const TOLD_MS = 100;

export class PaneView {
  readonly element: HTMLElement;
  readonly canvas = h("canvas", { class: "queue", tabindex: 0, role: "application" });
  readonly picture = new QueuePicture();
  readonly strip: Strip;
  readonly index: 0 | 1;
  selected: number | null = null;
  private readonly page: Context;
  private readonly heading = h("h2");
  private readonly field: QueueField;
  private readonly why: Why;
  private readonly count: HTMLButtonElement;
  private drawn = "";
  private told = 0;

  constructor(page: Context, index: 0 | 1) {
    this.page = page;
    this.index = index;
    this.field = new QueueField(page, index);
    this.why = new Why(index);
    this.strip = new Strip(page);
    this.count = h("button", { type: "button", onclick: () => this.compare() });
    const head = h("header", { class: "pane-head" }, this.heading, this.field.element, this.count);
    this.element = h("section", { class: "pane", "aria-label": `pane ${index + 1}` }, head);
    this.element.append(this.canvas, this.strip.element, this.why.element);
    this.element.addEventListener("pointerdown", () => this.activate());
    this.element.addEventListener("focusin", () => this.activate());
    this.listen();
  }

  /** The pane began another run. */
  begin(pane: PaneRun): void {
    setText(this.heading, pane.name ?? `Queue ${this.index + 1}`);
    const words = `the queue of ${pane.begun.link} under ${pane.begun.queue}: arrows choose a packet, Enter opens its menu`;
    this.canvas.setAttribute("aria-label", words);
    this.field.show(pane);
    const isOne = this.page.lab.panes.length === 1;
    setText(this.count, isOne ? "Compare" : "Close");
    this.count.setAttribute(
      "aria-label",
      isOne ? "compare with another queue" : `close pane ${this.index + 1}`,
    );
    this.why.begin(pane);
    this.strip.begin(pane);
    this.selected = null;
    this.drawn = "";
  }

  /** Draws the present instant; true while packets still move. */
  draw(pane: PaneRun, moves: boolean): boolean {
    const scene = this.scene(pane, moves);
    const width = Math.floor(this.canvas.parentElement?.clientWidth ?? 0) - 28;
    if (width < 100) return false;
    const height = this.picture.height(width, scene);
    const brush = fitted(this.canvas, width, height);
    if (brush !== null) this.picture.draw(brush, width, scene);
    this.element.classList.toggle(
      "active",
      this.page.lab.active === this.index && this.page.lab.panes.length > 1,
    );
    this.strip.draw(pane, width);
    const state = `${pane.snapshot.steps} ${pane.snapshot.digest}`;
    const now = performance.now();
    // Words that change in each frame can't be read, and each change lays the page out anew.
    if (state !== this.drawn && !(this.page.lab.playing && now - this.told < TOLD_MS)) {
      this.why.show(pane);
      this.drawn = state;
      this.told = now;
    }
    return this.picture.moving;
  }

  /** What is drawn, for a picture to be saved too. */
  scene(pane: PaneRun, moves: boolean): Scene {
    const { lab, lit } = this.page;
    const { begun, snapshot, events } = pane;
    const clockS = lab.playing ? lab.clockS : snapshot.now_s;
    return { begun, snapshot, events, clockS, theme: this.page.theme(), lit, selected: this.selected, moves };
  }

  /** The packet that is chosen, if it is still there. */
  chosen(): Hit | null {
    return this.picture.hits.find((hit) => hit.serial === this.selected) ?? null;
  }

  activate(): void {
    this.page.lab.active = this.index;
    this.page.redraw();
  }

  /** Chooses the next packet in a direction and says it. */
  choose(key: string): void {
    const next = neighbour(this.picture.hits, this.chosen(), key);
    if (next === null) return;
    this.selected = next.serial;
    this.light(next);
    this.page.lab.say(this.words(next));
  }

  private words(hit: Hit | null): string {
    const pane = this.page.lab.panes[this.index];
    return pane === undefined || hit === null ? "" : sayPacket(pane, hit);
  }

  /** What a click or Enter does to a packet. */
  pick(hit: Hit): void {
    const { lab } = this.page;
    this.selected = hit.serial;
    if (lab.pickMode) lab.emit("pick", { pane: this.index, serial: hit.serial });
    else openPacketMenu(this.page, this.index, hit, this.canvas);
    this.page.redraw();
  }

  /** One pane becomes two of the same arrivals; of two this one goes. */
  private compare(): void {
    const { lab } = this.page;
    const [first, second] = lab.state().panes;
    if (first === undefined) return;
    const panes = second === undefined ? [first, { ...first }] : [this.index === 0 ? second : first];
    run(lab.change({ panes }));
  }

  private light(named: Named | null): void {
    this.page.lit = named;
    this.page.redraw();
  }

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => {
      const hit = this.under(event);
      canvas.style.cursor = hit !== null || this.laneUnder(event) !== null ? "pointer" : "default";
      canvas.title = this.words(hit);
      if (hit?.flow !== this.page.lit?.flow || hit?.sequence !== this.page.lit?.sequence) this.light(hit);
    });
    canvas.addEventListener("pointerleave", () => this.light(null));
    canvas.addEventListener("click", (event) => {
      const hit = this.under(event);
      const flow = this.laneUnder(event);
      if (hit !== null) this.pick(hit);
      else if (flow !== null && !this.page.lab.pickMode) openInject(this.page, this.index, flow, canvas);
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const chosen = this.chosen();
    if (event.key.startsWith("Arrow") && !event.shiftKey) this.choose(event.key);
    else if (event.key === "Enter" && chosen !== null) this.pick(chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private under(event: MouseEvent): Hit | null {
    const { offsetX: x, offsetY: y } = event;
    const inside = (hit: Hit) =>
      x >= hit.x - 1 && x <= hit.x + hit.width + 1 && y >= hit.y && y <= hit.y + hit.height;
    return this.picture.hits.find(inside) ?? null;
  }

  private laneUnder(event: MouseEvent): number | null {
    const lane = this.picture.lanes.find(
      ({ y, height }) => event.offsetY >= y && event.offsetY <= y + height,
    );
    return lane?.flow ?? null;
  }

  /** Drops, marks or delays the chosen packet. */
  act(what: "drop" | "mark" | "hold"): void {
    const chosen = this.chosen();
    const { lab } = this.page;
    if (chosen === null || chosen.sending) {
      lab.say("Choose a packet that waits first: the arrow keys in the queue, or a click.");
      return;
    }
    const hand =
      what === "hold" ? { hold: { packet: chosen.packet, for_s: this.delay() } } : { [what]: chosen.packet };
    run(lab.hand(this.index, hand as Parameters<typeof lab.hand>[1]));
  }

  /** A delay by hand: three packets of 1000 bytes on this line. */
  private delay(): number {
    return 24_000 / (this.page.lab.panes[this.index]?.begun.rate_bit_per_s ?? 1e6);
  }
}

/** The packet next to the chosen one: along its lane, or the nearest of the lane above or below. */
function neighbour(hits: Hit[], chosen: Hit | null, key: string): Hit | null {
  if (chosen === null) return hits.find((hit) => !hit.sending) ?? hits[0] ?? null;
  const along = key === "ArrowLeft" || key === "ArrowRight";
  const sign = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  let best: Hit | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const hit of hits) {
    const [across, down] = [hit.x - chosen.x, hit.y - chosen.y];
    const ahead = (along ? across : down) * sign;
    if (ahead <= 0.5 || (along && Math.abs(down) > 1 && !hit.sending)) continue;
    const distance = along ? ahead + Math.abs(down) * 2 : ahead * 4 + Math.abs(across);
    if (distance < least) [best, least] = [hit, distance];
  }
  return best;
}

function sayPacket(pane: PaneRun, hit: Hit): string {
  const flow = pane.begun.flows[hit.flow]?.name ?? hit.flow;
  const packet = pane.snapshot.waiting.find((each) => each.serial === hit.serial);
  if (packet === undefined) return `Packet ${hit.sequence} of ${flow} is on the line.`;
  const numbers = [
    packet.start === null ? "" : `, start number ${packet.start}`,
    packet.finish === null ? "" : `, finish number ${packet.finish}`,
    packet.rank === null ? "" : `, rank ${packet.rank}`,
  ];
  return `Packet ${packet.sequence} of ${flow}, ${packet.bytes} bytes${numbers.join("")}, place ${packet.place}.`;
}

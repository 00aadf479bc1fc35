// The picture of a queue: packets by flow, the packet on the line, and the fluid of the same arrivals.

import type { Begun, QueueEvent, Sending, Snapshot, Waiting } from "../protocol";
import { type Brush, fitted } from "./brush";
import { flowColour, flowShape, inkOn, type Theme } from "./colours";
import { drawFluid } from "./fluid";
import { bytesAhead, flowsShown, type Lane, type Layout, layout } from "./layout";
import { bytes, tag, withUnit } from "./numbers";

/** A packet in the picture, for the pointer and the keys. */
export interface Hit {
  serial: number;
  packet: number;
  flow: number;
  sequence: number;
  sending: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A packet named across panes: in both runs it has the same flow and sequence. */
export interface Named {
  flow: number;
  sequence: number;
}

export interface Scene {
  begun: Begun;
  snapshot: Snapshot;
  events: QueueEvent[];
  /** The instant drawn. */
  clockS: number;
  theme: Theme;
  lit: Named | null;
  selected: number | null;
  /** False: packets stand where they belong, without moving there. */
  moves: boolean;
}

/** A drop is shown for as long as the line sends this: three packets of 1000 bytes. */
const RECENT_BITS = 24_000;
/** Pixels of a byte at most. */
const WIDEST = 0.062;
/** The share of the way to its place that a packet goes in a frame. */
const EASE = 0.3;

/** Keeps what lasts from one drawing to the next: scale, lanes, where packets stand. */
export class QueuePicture {
  hits: Hit[] = [];
  lanes: Lane[] = [];
  /** Packets are still on the way to their places. */
  moving = false;
  private readonly seen = new Set<number>();
  private scale = WIDEST;
  private places = new Map<number, number>();

  /** The picture's height for its width. */
  height(width: number, scene: Pick<Scene, "begun" | "snapshot">): number {
    return this.arranged(width, scene).height;
  }

  draw(brush: Brush, width: number, scene: Scene): void {
    const at = this.arranged(width, scene);
    this.lanes = at.lanes;
    this.hits = [];
    this.moving = false;
    brush.rect(0, 0, width, at.height, 0, { fill: scene.theme.paper });
    this.heading(brush, at, scene);
    for (const lane of at.lanes) this.lane(brush, at, lane, scene);
    this.way(brush, at, scene);
    this.packets(brush, at, scene);
    for (const lane of at.lanes) this.fates(brush, at.labelsTo, lane, scene);
    this.line(brush, at, scene);
    drawFluid(brush, at, scene, this.scale);
  }

  private arranged(width: number, { begun, snapshot }: Pick<Scene, "begun" | "snapshot">): Layout {
    return layout(width, flowsShown(this.seen, snapshot, begun.flows.length), begun.flows.length);
  }

  private heading(brush: Brush, at: Layout, { begun, snapshot, theme }: Scene): void {
    const small = { fill: theme.faint, size: 12 };
    brush.text(0, 13, "waiting", { ...small, bold: true });
    const more = at.more > 0 ? ` · ${at.more} more flows` : "";
    const room = at.headX - 58;
    const words = `${snapshot.held_packets} packets, ${bytes(snapshot.held_bytes)}${more}`;
    brush.text(56, 13, fitted(brush, words, 12, room), small);
    const rate = withUnit(snapshot.link_rate_bit_per_s ?? begun.rate_bit_per_s, "bit/s");
    brush.text(at.width - 2, 13, rate, { ...small, align: "right" });
  }

  private lane(brush: Brush, at: Layout, lane: Lane, { begun, snapshot, theme }: Scene): void {
    const middle = lane.y + lane.height / 2;
    const flow = begun.flows[lane.flow];
    const left = at.labelsTo;
    brush.rect(left, lane.y, at.headX - left, lane.height, 5, { fill: theme.lane });
    const radius = Math.min(6, lane.height / 3);
    const colour = flowColour(lane.flow, theme);
    const shape = flowShape(lane.flow, 8, middle, radius);
    brush.path(shape, { fill: colour, stroke: theme.ink, width: 0.6 });
    const size = lane.height < 20 ? 10 : 12.5;
    const name = fitted(brush, flow?.name ?? String(lane.flow), size, left - 26);
    const weight =
      flow !== undefined && flow.weight !== 1 && lane.height >= 30 ? `weight ${tag(flow.weight)}` : "";
    brush.text(20, weight ? middle - 7 : middle, name, { fill: theme.ink, size });
    if (weight) brush.text(20, middle + 8, weight, { fill: theme.faint, size: 10.5 });
    if (snapshot.waiting_more > 0 && lane === this.lanes[0]) {
      brush.text(left + 4, lane.y + 6, `+${snapshot.waiting_more} not drawn`, {
        fill: theme.faint,
        size: 10,
      });
    }
  }

  /** What was dropped just before this instant: a cross and its reason. */
  private fates(brush: Brush, left: number, lane: Lane, { begun, clockS, events, theme }: Scene): void {
    const since = clockS - RECENT_BITS / begun.rate_bit_per_s;
    const isRecent = (event: QueueEvent) => event.event === "dropped" && event.at_s >= since;
    const dropped = events.filter((event) => event.flow === lane.flow && isRecent(event));
    const last = dropped.at(-1);
    if (last === undefined) return;
    const x = left + 12;
    const y = lane.y + lane.height / 2;
    const many =
      dropped.length > 1 ? `${dropped.length} dropped` : `dropped${last.reason ? `: ${last.reason}` : ""}`;
    const room = lane.height < 20 ? 0 : brush.measure(many, 11) + 10;
    brush.rect(left, y - 9, 22 + room, 18, 5, { fill: theme.lane, alpha: 0.9 });
    brush.path(`M${x - 5} ${y - 5}l10 10m0 -10l-10 10`, { stroke: theme.alarm, width: 2.5 });
    if (room > 0) brush.text(x + 11, y, many, { fill: theme.alarm, size: 11 });
  }

  private packets(brush: Brush, at: Layout, scene: Scene): void {
    const { snapshot } = scene;
    const ahead = bytesAhead(snapshot);
    const room = at.headX - at.labelsTo - 8;
    const longest = Math.max(
      1,
      ...snapshot.waiting.map((packet) => (ahead.get(packet.serial) ?? 0) + packet.bytes),
    );
    this.rescale(room / longest);
    const places = new Map<number, number>();
    const lanes = new Map(at.lanes.map((lane) => [lane.flow, lane]));
    for (const packet of [...snapshot.waiting].reverse()) {
      const lane = lanes.get(packet.flow);
      const target = at.headX - 3 - (ahead.get(packet.serial) ?? 0) * this.scale;
      const place = this.eased(packet.serial, target, scene.moves);
      places.set(packet.serial, place);
      const width = Math.max(3, packet.bytes * this.scale - 2);
      if (lane === undefined || place < at.labelsTo) continue;
      const y = lane.y + 3;
      this.packet(brush, { x: place - width, y, width, height: lane.height - 6 }, packet, scene);
    }
    this.places = places;
  }

  /** The scale shrinks at once when packets would not fit, and grows only when there is much room. */
  private rescale(fits: number): void {
    const wanted = Math.min(WIDEST, fits);
    if (wanted < this.scale) this.scale = wanted * 0.87;
    else if (wanted > this.scale * 1.7) this.scale = Math.min(WIDEST, wanted * 0.87);
  }

  private eased(serial: number, target: number, moves: boolean): number {
    const before = this.places.get(serial) ?? (moves ? target - 24 : target);
    const next = moves ? before + (target - before) * EASE : target;
    if (Math.abs(target - next) < 0.5) return target;
    this.moving = true;
    return next;
  }

  private packet(brush: Brush, box: Box, packet: Waiting, scene: Scene): void {
    const { theme } = scene;
    const colour = flowColour(packet.flow, theme);
    const ink = inkOn(colour);
    brush.rect(box.x, box.y, box.width, box.height, 4, { fill: colour });
    this.outlined(brush, box, packet, scene);
    numbers(brush, box, packet, ink);
    if (packet.marked) brush.path(flowShape(2, box.x + box.width / 2, box.y + 1, 3.5), { fill: theme.ink });
    this.hits.unshift({ ...named(packet), sending: false, ...box });
  }

  private outlined(brush: Brush, box: Box, packet: Waiting | Sending, { theme, lit, selected }: Scene): void {
    const isLit = lit !== null && lit.flow === packet.flow && lit.sequence === packet.sequence;
    const isSelected = selected === packet.serial;
    if (!isLit && !isSelected) return;
    const grow = isSelected ? 3 : 1.5;
    const [x, y] = [box.x - grow, box.y - grow];
    const style = { stroke: isSelected ? theme.accent : theme.ink, width: isSelected ? 2.5 : 2 };
    brush.rect(x, y, box.width + 2 * grow, box.height + 2 * grow, 5, style);
  }

  /** The way from the lane of the packet on the line to the line. */
  private way(brush: Brush, at: Layout, { snapshot, theme }: Scene): void {
    const [first, last] = [at.lanes[0], at.lanes.at(-1)];
    if (first === undefined || last === undefined) return;
    const gate = at.headX + 4;
    const tall = last.y + last.height - first.y;
    brush.rect(gate, first.y, 3, tall, 1.5, { fill: theme.line });
    const lane = at.lanes.find((each) => each.flow === snapshot.sending?.flow);
    if (lane === undefined) return;
    const y = lane.y + lane.height / 2;
    const middle = (gate + at.lineX) / 2;
    const words = `M${gate + 3} ${y}C${middle} ${y} ${middle} ${at.lineY} ${at.lineX} ${at.lineY}`;
    brush.path(words, { stroke: flowColour(lane.flow, theme), width: 4, alpha: 0.55 });
  }

  private line(brush: Brush, at: Layout, scene: Scene): void {
    const { snapshot, theme } = scene;
    const height = Math.min(40, Math.max(24, at.lanes[0]?.height ?? 24));
    const box = { x: at.lineX, y: at.lineY - height / 2, width: at.lineWidth, height };
    brush.rect(box.x, box.y, box.width, box.height, 6, { fill: theme.lane, stroke: theme.line });
    const sending = snapshot.sending;
    if (sending === null) {
      const style = { fill: theme.faint, size: 11.5, align: "center" as const };
      brush.text(box.x + box.width / 2, at.lineY, "line idle", style);
      return;
    }
    this.sent(brush, box, sending, scene);
    const under = `${bytes(sending.bytes)}${sending.marked ? ", marked" : ""}`;
    const below = { fill: theme.faint, size: 11, align: "right" as const };
    brush.text(box.x + box.width, box.y + height + 10, under, below);
  }

  private sent(brush: Brush, box: Box, sending: Sending, scene: Scene): void {
    const { theme, clockS, snapshot } = scene;
    const span = sending.ends_s - sending.began_s;
    const done = span > 0 ? Math.min(1, Math.max(0, (clockS - sending.began_s) / span)) : 1;
    const colour = flowColour(sending.flow, theme);
    brush.rect(box.x, box.y, box.width, box.height, 6, { fill: colour, alpha: 0.28 });
    brush.rect(box.x, box.y, Math.max(6, box.width * done), box.height, 6, { fill: colour });
    brush.rect(box.x, box.y, box.width, box.height, 6, { stroke: colour, width: 1.5 });
    this.outlined(brush, box, sending, scene);
    const decided = snapshot.decision?.serial === sending.serial ? snapshot.decision.value : null;
    const long = `#${sending.sequence}${decided === null ? "" : `  ${tag(decided)}`}`;
    const fits = brush.measure(long, 12, true) + 34 <= box.width;
    const words = fits ? long : `#${sending.sequence}`;
    const label = { x: box.x + 6, width: brush.measure(words, 12, true) + 22 };
    brush.rect(label.x - 2, box.y + box.height / 2 - 9, label.width + 2, 18, 9, {
      fill: theme.paper,
      alpha: 0.9,
    });
    const shape = flowShape(sending.flow, label.x + 8, box.y + box.height / 2, 5);
    brush.path(shape, { fill: colour, stroke: theme.ink, width: 0.5 });
    brush.text(label.x + 17, box.y + box.height / 2, words, { fill: theme.ink, size: 12, bold: true });
    this.hits.push({ ...named(sending), sending: true, ...box });
  }
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function named(packet: Waiting | Sending) {
  const { serial, flow, sequence } = packet;
  return { serial, packet: packet.packet, flow, sequence };
}

/** The packet's numbers: side by side where it is wide, turned where it is narrow, else its flow's shape. */
function numbers(brush: Brush, box: Box, packet: Waiting, ink: string): void {
  const [upper, lower] = numbersOf(packet);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const size = Math.min(11.5, box.height / 2.4);
  const look = { fill: ink, size, align: "center" as const };
  const fits = (text: string, room: number, of = size) => of >= 7 && brush.measure(text, of) <= room - 4;
  const turned = { ...look, size: Math.min(size, 10), turned: true };
  const both = upper !== "" && fits(upper, box.width) && fits(lower, box.width) && box.height >= 24;
  if (both) brush.text(x, y - size * 0.62, upper, { ...look, alpha: 0.85 });
  if (fits(lower, box.width)) brush.text(x, both ? y + size * 0.62 : y, lower, look);
  else if (box.width >= 11 && fits(lower, box.height, turned.size)) {
    const beside = upper !== "" && box.width >= 25 && fits(upper, box.height, turned.size);
    if (beside) brush.text(x - size * 0.6, y, upper, { ...turned, alpha: 0.85 });
    brush.text(beside ? x + size * 0.6 : x, y, lower, turned);
  } else if (box.width >= 9) brush.path(flowShape(packet.flow, x, y, 3), { fill: ink, alpha: 0.8 });
}

/** The two numbers that a packet carries: start above finish, else its rank, else its sequence. */
function numbersOf(packet: Waiting): [upper: string, lower: string] {
  if (packet.finish !== null) return [packet.start === null ? "" : tag(packet.start), tag(packet.finish)];
  if (packet.start !== null) return ["", tag(packet.start)];
  if (packet.rank !== null) return ["", tag(packet.rank)];
  return ["", `#${packet.sequence}`];
}

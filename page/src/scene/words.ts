// The live text: what stands in a queue and why, so that who only reads it can follow and predict.

import type { Pane } from "../lab";
import type { Decision, FlowInfo, Measures, Snapshot, Waiting } from "../protocol";
import { MEASURES, type Measure } from "./types";

/** Readings that are said; the table of the page has all. */
const READINGS = 12;

/** What a decision goes by, in words, and the number of a waiting packet that it compares. */
const GROUNDS: Record<string, { words: string; number: (packet: Waiting) => number | null }> = {
  finish: { words: "finish number", number: (packet) => packet.finish },
  start: { words: "start number", number: (packet) => packet.start },
  rank: { words: "rank", number: (packet) => packet.rank },
};

/** A packet by the number in its flow; one that was put in by hand has none, and goes by its number here. */
export function packetName(
  packet: { flow: number; sequence: number; serial: number },
  flows: readonly FlowInfo[],
): string {
  const isAdded = packet.sequence > Number.MAX_SAFE_INTEGER;
  const number = isAdded ? `added packet ${packet.serial}` : `packet ${packet.sequence}`;
  return `${number} of ${flows[packet.flow]?.name ?? "another link"}`;
}

/** The first waiting packet of each flow, in the order of flows. */
export function heads(snapshot: Snapshot): Waiting[] {
  const first = new Map<number, Waiting>();
  for (const packet of snapshot.waiting) {
    const head = first.get(packet.flow);
    if (head === undefined || packet.place < head.place) first.set(packet.flow, packet);
  }
  return [...first.values()].sort((one, other) => one.flow - other.flow);
}

/** The state of a queue in sentences. */
export function describe(pane: Pick<Pane, "begun">, snapshot: Snapshot, flows: readonly FlowInfo[]): string {
  const sentences = [
    `${pane.begun.queue}: ${number(snapshot.now_s)} s.`,
    onTheLine(snapshot, flows),
    ...why(snapshot, flows),
    ...waiting(snapshot, flows),
    ...least(snapshot, flows),
    ...readings(snapshot),
  ];
  return sentences.join(" ");
}

function onTheLine({ sending }: Snapshot, flows: readonly FlowInfo[]): string {
  if (sending === null) return "Nothing is on the line.";
  const mark = sending.marked ? ", marked" : "";
  return `On the line: ${packetName(sending, flows)}, ${sending.bytes} B${mark}, until ${number(sending.ends_s)} s.`;
}

/** Why the packet on the line was chosen; the field's word stands for a ground that this page does not know. */
export function why({ decision, sending }: Snapshot, flows: readonly FlowInfo[]): string[] {
  if (decision === null) return [];
  const isOnLine = sending !== null && sending.serial === decision.serial;
  const subject = isOnLine ? "It" : `The last packet that was chosen, of ${flows[decision.flow]?.name},`;
  const among = decision.eligible === null ? "" : ` among ${decision.eligible} eligible`;
  const clock =
    decision.clock === null ? "" : `; the clock of the discipline was at ${number(decision.clock)}`;
  return [`${subject} was chosen by its ${ground(decision)}${among}${clock}.`];
}

/** What a decision went by, with its value; of a turn that is what the flow may still send in it. */
function ground({ by, value }: Decision): string {
  if (value === null) return GROUNDS[by]?.words ?? by;
  if (by === "turn") return `turn, in which its queue might send ${number(value)} B`;
  const compared = GROUNDS[by];
  return compared === undefined ? `${by} ${number(value)}` : `${compared.words} ${number(value)}, the least`;
}

function waiting(snapshot: Snapshot, flows: readonly FlowInfo[]): string[] {
  if (snapshot.held_packets === 0 && snapshot.waiting.length === 0) return ["No packet waits."];
  const counts = new Map<number, number>();
  for (const { flow } of snapshot.waiting) counts.set(flow, (counts.get(flow) ?? 0) + 1);
  const lines = heads(snapshot).map((packet) => {
    const more = (counts.get(packet.flow) ?? 1) - 1;
    const behind = more === 0 ? "" : `, ${more} more behind it`;
    const numbers = [`${packet.bytes} B`, ...tags(packet)].join(", ");
    return `${sentence(packetName(packet, flows))} waits: ${numbers}${behind}.`;
  });
  return snapshot.waiting_more === 0 ? lines : [...lines, `${snapshot.waiting_more} more packets wait.`];
}

/** The numbers that a discipline keeps with a packet. */
export function tags({ start, finish, rank }: Waiting): string[] {
  return [
    ...(start === null ? [] : [`start number ${number(start)}`]),
    ...(finish === null ? [] : [`finish number ${number(finish)}`]),
    ...(rank === null || rank === finish || rank === start ? [] : [`rank ${number(rank)}`]),
  ];
}

/** The packet whose number is the least, by what the last decision went by. */
function least(snapshot: Snapshot, flows: readonly FlowInfo[]): string[] {
  const compared = GROUNDS[snapshot.decision?.by ?? "finish"];
  if (compared === undefined) return [];
  let best: Waiting | null = null;
  for (const packet of heads(snapshot)) {
    const own = compared.number(packet);
    if (own === null) continue;
    if (best === null || own < (compared.number(best) ?? own)) best = packet;
  }
  if (best === null) return [];
  const value = number(compared.number(best) ?? 0);
  // Where only some may go, the text does not foresee which: start numbers and the clock say it.
  const isOfAll = snapshot.decision === null || snapshot.decision.eligible === null;
  const end = isOfAll ? "is the least." : "is the least of all, but only an eligible packet may leave.";
  return [`${sentence(packetName(best, flows))} waits; its ${compared.words} ${value} ${end}`];
}

function readings(snapshot: Snapshot): string[] {
  const shown = snapshot.readings.slice(0, READINGS).map(({ name, unit, part, value }) => {
    const amount = typeof value === "number" ? number(value) : (value ?? "none");
    return `${name}${part === "" || part === null ? "" : ` of ${part}`} ${amount}${unit ? ` ${unit}` : ""}`;
  });
  const left = snapshot.readings.length - shown.length;
  if (shown.length === 0) return [];
  return [`Readings: ${shown.join("; ")}${left > 0 ? `; and ${left} more in the table` : ""}.`];
}

/** What was measured, flow by flow. */
export function measured(name: string, measures: Measures, flows: readonly FlowInfo[]): string {
  const each = measures.flows.map((flow, index) => {
    const parts = [
      `${formatted(flow.share, "share")} of the link`,
      ...(flow.delay_mean_s === null ? [] : [`mean delay ${formatted(flow.delay_mean_s, "delay_mean_s")}`]),
      ...(flow.drops === 0 ? [] : [`${flow.drops} dropped`]),
      ...(flow.marks === 0 ? [] : [`${flow.marks} marked`]),
    ];
    return `${flows[index]?.name}: ${parts.join(", ")}`;
  });
  return `${name}, measured: ${each.join("; ")}.`;
}

/** A value with the unit of its measure. */
export function formatted(value: number, measure: Measure): string {
  const { unit, scale } = MEASURES[measure];
  const amount = number(value * scale, 3);
  if (unit === "") return amount;
  return `${amount} ${amount === "1" && unit === "packets" ? "packet" : unit}`;
}

/** A number without needless digits. */
export function number(value: number, digits = 6): string {
  const short = Number(value.toPrecision(digits));
  return Math.abs(short) >= 1e9 ? short.toExponential() : String(short);
}

/** A text that begins a sentence. */
export function sentence(text: string): string {
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;
}

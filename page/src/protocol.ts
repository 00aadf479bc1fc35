// What the simulator is asked and what it answers: the types of `crates/wasm`. SI units: seconds,
// bit/s, bytes.

/** A setting of a scenario: its path and its value. */
export type Setting = [path: string, value: string | number];

/** A change by hand, at the present instant of a run. */
export type Hand =
  | { set: Setting }
  | { offer: { flow: number; bytes: number; count: number } }
  | { drop: number }
  | { mark: number }
  | { hold: { packet: number; for_s: number } };

/** A change by hand as a log keeps it: with the step after which it was made. */
export type Entry = Hand & { step: number; at_ps: number };

/** A scenario: its text and the files that it names. */
export interface Source {
  name: string;
  text: string;
  files?: Record<string, string>;
}

export interface LinkInfo {
  name: string;
  rate_bit_per_s: number;
  delay_s: number;
  queue: string;
  flows: number;
}

export interface FlowInfo {
  name: string;
  weight: number;
}

export interface Point {
  labels: Record<string, string>;
  sets: Setting[];
}

export interface Read {
  title: string;
  end_s: number;
  axes: { name: string; values: string[] }[];
  points: Point[];
  links: LinkInfo[];
  flows: FlowInfo[];
  memory_bytes: number;
}

export interface Begun {
  title: string;
  end_s: number;
  link: string;
  direction: string;
  rate_bit_per_s: number;
  links: LinkInfo[];
  flows: FlowInfo[];
  queue: string;
  card: string;
}

export interface Where {
  now_s: number;
  steps: number;
  reached: boolean;
  digest: string;
  found?: boolean;
}

/** A setting of a discipline, as its card has it. */
export interface CardSetting {
  name: string;
  type: string;
  default: unknown;
  doc: string;
}

export interface Card {
  name: string;
  summary: string;
  text: string;
  steps: string[];
  settings: CardSetting[];
}

export interface Sending {
  packet: number;
  serial: number;
  flow: number;
  sequence: number;
  bytes: number;
  began_s: number;
  ends_s: number;
  marked: boolean;
}

export interface Waiting {
  packet: number;
  serial: number;
  flow: number;
  sequence: number;
  bytes: number;
  queue: number;
  place: number;
  arrived_s: number;
  start: number | null;
  finish: number | null;
  rank: number | null;
  marked: boolean;
}

export interface Reading {
  name: string;
  unit: string;
  part: string;
  value: number | string | null;
}

export interface Fluid {
  round: number;
  flows: { flow: number; served_bytes: number; backlog_bytes: number }[];
  packets: { serial: number; flow: number; start: number; finish: number }[];
}

export interface Decision {
  serial: number;
  flow: number;
  at_s: number;
  by: string;
  value: number | null;
  clock: number | null;
  eligible: number | null;
  queue: number;
  step: number | null;
}

export interface QueueEvent {
  at_s: number;
  event: "arrived" | "began" | "sent" | "dropped" | "marked" | "lost";
  serial: number;
  flow: number;
  sequence: number;
  bytes: number;
  reason: string | null;
}

/** What stands in and around a queue at one instant. */
export interface Snapshot {
  now_s: number;
  steps: number;
  end_s: number;
  digest: string;
  /** The rate of the shown link now, if it is not the one that the run began with. */
  link_rate_bit_per_s?: number;
  sending: Sending | null;
  waiting: Waiting[];
  waiting_more: number;
  held_packets: number;
  held_bytes: number;
  readings: Reading[];
  fluid: Fluid | null;
  decision: Decision | null;
  events: QueueEvent[];
  events_missed: number;
}

export interface FlowMeasures {
  share: number;
  throughput_bit_per_s: number;
  delay_mean_s: number | null;
  delay_max_s: number | null;
  late_max_s: number | null;
  packets: number;
  drops: number;
  marks: number;
}

export interface Measures {
  flows: FlowMeasures[];
  jain: number | null;
  utilisation: number;
  late_max_s: number | null;
  late_max_packets: number | null;
  drops: Record<string, number>;
  max_min_bit_per_s: number[] | null;
}

export interface Tick {
  at_s: number;
  kind: "dropped" | "marked";
  flow: number;
  reason: string | null;
}

export interface History {
  time_s: number[];
  flows: {
    throughput_bit_per_s: number[];
    delay_s: (number | null)[];
    backlog_bytes: number[];
    fluid_bit_per_s: number[];
  }[];
  ticks: Tick[];
  measures: Measures;
}

export interface LinePacket {
  serial: number;
  flow: number;
  sequence: number;
  bytes: number;
  arrived_s: number;
  began_s: number | null;
  sent_s: number | null;
  start: number | null;
  finish: number | null;
  fluid_s: number | null;
  fate: "waits" | "sent" | "dropped";
  reason: string | null;
  marked: boolean;
}

export interface Timeline {
  packets: LinePacket[];
  more: number;
  fluid: number[][];
}

export interface Table {
  columns: { name: string; unit: string }[];
  rows: (string | number | boolean | null)[][];
}

export interface About {
  version: string;
  queues: string[];
}

/** What a request is refused with; `text` is what is shown. */
export interface FaultBody {
  message: string;
  path?: string | null;
  line?: number | null;
  text: string;
  restart?: boolean;
}

/** The name of each request and the type of its answer. */
export interface Answers {
  about: About;
  card: Card;
  read: Read;
  begin: Begun;
  advance: Where;
  go: Where;
  step: Where & { what: string; of: string; direction: string };
  until: Where;
  hand: { entry: Entry };
  /** The present value of a field of the scenario. */
  field: { value: unknown };
  look: Snapshot;
  history: History;
  timeline: Timeline;
  table: Table;
  whole: { document: unknown };
}

export type Do = keyof Answers;
export type Request<D extends Do = Do> = { do: D } & Record<string, unknown>;

// Messages between the page and the worker that holds the simulator.

import type { FaultBody, Request } from "../protocol";

export type ToWorker =
  | { kind: "module"; module: WebAssembly.Module }
  /** Requests that are answered together, one after the other. */
  | { kind: "batch"; id: number; requests: Request[] }
  /** A request that is made again until its answer says `reached` or `found`. */
  | { kind: "long"; id: number; request: Request }
  | { kind: "stop"; id: number };

export type Answer = { ok: unknown } | { fault: FaultBody };

export type FromWorker =
  | { kind: "answers"; id: number; answers: Answer[] }
  | { kind: "progress"; id: number; nowS: number }
  /** The simulator failed; a new instance stands ready and holds no run. */
  | { kind: "trap"; id: number; text: string };

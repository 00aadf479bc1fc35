// The worker: holds one instance of the simulator, so that the page never waits for it.

import type { Where } from "../protocol";
import { Engine } from "./engine";
import type { Answer, FromWorker, ToWorker } from "./messages";

let module: WebAssembly.Module | null = null;
let engine: Engine | null = null;
const stopped = new Set<number>();
/** Jobs that wait: a long one gives way to messages, never to another job. */
const jobs: (ToWorker & { id: number })[] = [];
let working = false;

const post = (message: FromWorker) => self.postMessage(message);

self.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (message.kind === "module") {
    module = message.module;
    engine = new Engine(module);
  } else if (message.kind === "stop") {
    stopped.add(message.id);
  } else {
    jobs.push(message);
    if (!working) void work();
  }
};

async function work(): Promise<void> {
  working = true;
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    try {
      if (job.kind === "batch") {
        post({ kind: "answers", id: job.id, answers: job.requests.map(ask) });
      } else if (job.kind === "long") {
        post({ kind: "answers", id: job.id, answers: [await slices(job)] });
      }
    } catch (fault) {
      if (module !== null) engine = new Engine(module);
      post({ kind: "trap", id: job.id, text: fault instanceof Error ? fault.message : String(fault) });
    }
    stopped.delete(job.id);
  }
  working = false;
}

function ask(request: unknown): Answer {
  if (engine === null) throw new Error("the simulator has not been loaded");
  return JSON.parse(engine.call(JSON.stringify(request))) as Answer;
}

/** Slices of a long run, until it has arrived or is stopped; messages are heard between two of them. */
async function slices(job: ToWorker & { kind: "long" }): Promise<Answer> {
  let told = performance.now();
  for (;;) {
    const answer = ask(job.request);
    if (!("ok" in answer)) return answer;
    const where = answer.ok as Where;
    if (where.reached || where.found || stopped.has(job.id)) return answer;
    if (performance.now() - told > 50) {
      told = performance.now();
      post({ kind: "progress", id: job.id, nowS: where.now_s });
    }
    await turn();
  }
}

const channel = new MessageChannel();
let wake: (() => void) | null = null;
channel.port1.onmessage = () => wake?.();

/** Lets waiting messages in; a timer would cost 4 ms each time. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    wake = resolve;
    channel.port2.postMessage(null);
  });
}

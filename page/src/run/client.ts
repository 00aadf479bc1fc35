// The page's side of the worker: typed requests, faults as exceptions, long work that can be stopped.

import type { Answers, Do, FaultBody, Request } from "../protocol";
import type { Answer, FromWorker, ToWorker } from "./messages";

/** What the simulator refused; `text` is the line to show. */
export class Fault extends Error {
  readonly body: FaultBody;

  constructor(body: FaultBody) {
    super(body.text);
    this.body = body;
  }
}

/** The simulator failed inside; its runs are lost and must begin again. */
export class Lost extends Error {}

interface Waiter {
  resolve(answers: Answer[]): void;
  reject(fault: Error): void;
  progress?: (nowS: number) => void;
}

export class Client {
  private readonly worker: Worker;
  private readonly waiters = new Map<number, Waiter>();
  private last = 0;

  constructor(worker: Worker, module: WebAssembly.Module) {
    this.worker = worker;
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.hear(event.data);
    worker.onerror = (event) => this.fail(event.message || "the worker of the page could not start");
    this.post({ kind: "module", module });
  }

  /** One request and its answer. */
  async ask<D extends Do>(what: D, rest: Record<string, unknown> = {}): Promise<Answers[D]> {
    const [answer] = await this.batch([{ do: what, ...rest }]);
    return answer as Answers[D];
  }

  /** Requests that are answered together; the first that is refused is thrown. */
  async batch(requests: Request[]): Promise<unknown[]> {
    const id = ++this.last;
    const answers = await this.sent(id, { kind: "batch", id, requests });
    return answers.map(opened);
  }

  /** A long request; `stop` ends it where it is. */
  long<D extends "advance" | "go" | "until">(
    what: D,
    rest: Record<string, unknown>,
    progress?: (nowS: number) => void,
  ): { done: Promise<Answers[D]>; stop: () => void } {
    const id = ++this.last;
    const request = { most: 20_000, ...rest, do: what };
    const done = this.sent(id, { kind: "long", id, request }, progress);
    return {
      done: done.then((answers) => opened(answers[0]) as Answers[D]),
      stop: () => this.post({ kind: "stop", id }),
    };
  }

  /** Ends the worker. */
  end(): void {
    this.worker.terminate();
  }

  private sent(id: number, message: ToWorker, progress?: (nowS: number) => void): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      this.waiters.set(id, { resolve, reject, ...(progress && { progress }) });
      this.post(message);
    });
  }

  private post(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private hear(message: FromWorker): void {
    const waiter = this.waiters.get(message.id);
    if (waiter === undefined) return;
    if (message.kind === "progress") {
      waiter.progress?.(message.nowS);
      return;
    }
    this.waiters.delete(message.id);
    if (message.kind === "answers") waiter.resolve(message.answers);
    else
      waiter.reject(
        new Lost(`The simulator failed (${message.text}). What was shown began again from its seed.`),
      );
  }

  private fail(text: string): void {
    for (const waiter of this.waiters.values()) waiter.reject(new Lost(text));
    this.waiters.clear();
  }
}

function opened(answer: Answer | undefined): unknown {
  if (answer === undefined) throw new Lost("the simulator gave no answer");
  if ("fault" in answer) throw new Fault(answer.fault);
  return answer.ok;
}

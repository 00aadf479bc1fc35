// The page in a frame of another page: a small interface by messages, described in the guide of the lab.
//
// To the frame: { fairq: "load" | "play" | "pause" | "seek" | "state", id?, state?, timeS? }. From the frame, to
// the sender's origin alone: { fairq: "answer", id, state } or { fairq: "fault", id, text }.

import type { State } from "./lab";
import { checked } from "./run/address";
import type { Laboratory } from "./run/laboratory";

interface Message {
  fairq: string;
  id?: unknown;
  state?: unknown;
  timeS?: unknown;
}

/** Answers messages of the page around this one; gives what ends it. */
export function embed(lab: Laboratory, load: (state: State) => Promise<void>): () => void {
  const hear = (event: MessageEvent) => {
    const message = event.data as Message | null;
    if (typeof message !== "object" || message === null || typeof message.fairq !== "string") return;
    if (message.fairq === "answer" || message.fairq === "fault") return;
    const source = event.source as Window | null;
    if (source === null || source === window) return;
    // A page of a file has no origin that a message could be addressed to.
    const to = event.origin === "null" ? "*" : event.origin;
    const { id = null } = message;
    obey(lab, load, message).then(
      () => source.postMessage({ fairq: "answer", id, state: lab.panes.length > 0 ? lab.state() : null }, to),
      (fault: unknown) => source.postMessage({ fairq: "fault", id, text: textOf(fault) }, to),
    );
  };
  window.addEventListener("message", hear);
  return () => window.removeEventListener("message", hear);
}

async function obey(lab: Laboratory, load: (state: State) => Promise<void>, message: Message): Promise<void> {
  switch (message.fairq) {
    case "load":
      return load(checked(message.state));
    case "play":
      return lab.play();
    case "pause":
      return lab.pause();
    case "seek":
      if (typeof message.timeS !== "number" || !Number.isFinite(message.timeS)) {
        throw new Error("seek needs `timeS`, seconds of the run");
      }
      return lab.seek(message.timeS);
    case "state":
      return;
    default:
      throw new Error("a message says load, play, pause, seek or state");
  }
}

function textOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}

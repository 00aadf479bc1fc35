// Who listens to what happens in the lab.

import type { LabEvent } from "../lab";

export class Events {
  private readonly listeners = new Map<LabEvent, Set<(detail?: unknown) => void>>();

  /** Listens; gives what ends it. */
  on(what: LabEvent, listener: (detail?: unknown) => void): () => void {
    const all = this.listeners.get(what) ?? new Set();
    this.listeners.set(what, all.add(listener));
    return () => all.delete(listener);
  }

  emit(what: LabEvent, detail?: unknown): void {
    for (const listener of [...(this.listeners.get(what) ?? [])]) listener(detail);
  }
}

// The best score of each scene, kept by the browser where it keeps anything.

const KEY = "fairq-lab-scores";

/** The best scores, 0 to 1, by scene. */
export function scores(): Record<string, number> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof kept !== "object" || kept === null) return {};
    return Object.fromEntries(Object.entries(kept).filter(([, score]) => typeof score === "number"));
  } catch {
    // A page from a file, or a browser that keeps nothing.
    return {};
  }
}

/** Keeps a score if it is the best of its scene. */
export function keepScore(scene: string, score: number): void {
  const best = scores();
  if ((best[scene] ?? -1) >= score) return;
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...best, [scene]: score }));
  } catch {
    // The score is shown all the same, only not kept.
  }
}

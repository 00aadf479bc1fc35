// Numbers as a reader wants them: few digits, a unit of fitting size.

const STEPS: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
];

/** A value with its unit: `56 kbit/s`, `1.2 ms`. */
export function withUnit(value: number, unit: string, digits = 3): string {
  if (value === 0 || !Number.isFinite(value)) return `${value} ${unit}`;
  const size = Math.abs(value);
  const [step, prefix] = STEPS.find(([least]) => size >= least * 0.9995) ?? [1e-9, "n"];
  return `${trimmed(value / step, digits)} ${prefix}${unit}`;
}

/** Bytes are counted, not scaled, until there are many. */
export function bytes(value: number): string {
  return value < 10_000 ? `${Math.round(value)} B` : withUnit(value, "B");
}

/** An instant of a run, to the microsecond where that matters. */
export function instant(value: number, span = value): string {
  const digits = span >= 100 ? 2 : span >= 1 ? 4 : 6;
  return `${value.toFixed(digits)} s`;
}

/** A number of a tag: whole where it is whole. */
export function tag(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 1000 ? value.toFixed(0) : trimmed(value, 4);
}

function trimmed(value: number, digits: number): string {
  const text = value.toPrecision(digits);
  if (text.includes("e")) return String(Number(text));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

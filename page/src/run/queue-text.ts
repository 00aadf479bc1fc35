// Quantities as text, and the numbers in the text of a discipline, `drr(quantum=300 B) + tail_drop`: found and
// replaced as text, without knowing what any of them means.

import type { CardSetting } from "../protocol";

/** A number and the unit behind it. */
export interface Quantity {
  value: number;
  unit: string;
}

/** A number of a discipline that can be set to another. */
export interface QueueNumber extends Quantity {
  name: string;
  doc: string;
  /** The whole text of the discipline with another number in its place. */
  replaced(value: number): string;
}

const QUANTITY = /^\s*(-?\d+(?:\.\d+)?)\s*([a-zA-Zµ%/]*)\s*$/;
const NUMBER = /([a-z_]\w*)\s*=\s*(\d+(?:\.\d+)?)\s*([a-zA-Zµ%/]*)(?=\s*[,)])/g;

/** `"100 kbit/s"` as a number and its unit; `null` for what is no quantity. */
export function quantity(text: unknown): Quantity | null {
  if (typeof text === "number") return { value: text, unit: "" };
  const match = typeof text === "string" ? QUANTITY.exec(text) : null;
  return match === null ? null : { value: Number(match[1]), unit: match[2] ?? "" };
}

/** A quantity as text: whole numbers stay whole, others have three digits. */
export function written({ value, unit }: Quantity, isWhole: boolean): string {
  const number = isWhole ? Math.round(value) : Number(value.toPrecision(3));
  return unit ? `${number} ${unit}` : String(number);
}

/** The numbers that a discipline's text holds, and those that its card names with a default. */
export function numbersOf(text: string, card: string, settings: readonly CardSetting[]): QueueNumber[] {
  const inText = numbersIn(text);
  const known = new Map(settings.map((setting) => [setting.name, setting]));
  for (const number of inText) number.doc = known.get(number.name)?.doc ?? "";
  const names = new Set(inText.map(({ name }) => name));
  const others = settings.flatMap((setting) => {
    const start = names.has(setting.name) ? null : quantity(setting.default);
    return start === null || !/^\w+$/.test(setting.name) ? [] : [added(text, card, setting, start)];
  });
  return [...inText, ...others].filter(({ value }) => value >= 0);
}

function numbersIn(text: string): QueueNumber[] {
  return [...text.matchAll(NUMBER)].map((match) => {
    const [whole, name = "", digits = "0", unit = ""] = match;
    const value = Number(digits);
    const replaced = (next: number) => {
      const again = `${name}=${written({ value: next, unit }, isWhole(value, unit))}`;
      return text.slice(0, match.index) + again + text.slice(match.index + whole.length);
    };
    return { name, value, unit, doc: "", replaced };
  });
}

/** A setting that the text doesn't say yet: it is put behind the name of the card. */
function added(text: string, card: string, { name, doc }: CardSetting, start: Quantity): QueueNumber {
  const { value, unit } = start;
  const replaced = (next: number) => {
    const setting = `${name}=${written({ value: next, unit }, isWhole(value, unit))}`;
    const place = new RegExp(`\\b${card}\\b(\\(\\s*)?`);
    return text.replace(place, (found) =>
      found.includes("(") ? `${found}${setting}, ` : `${found}(${setting})`,
    );
  };
  return { name, doc, value, unit, replaced };
}

/** Bytes, packets and counts are whole; times, rates and shares need not be. */
export function isWhole(value: number, unit: string): boolean {
  return Number.isInteger(value) && (unit === "B" || unit === "packets" || (unit === "" && value !== 1));
}

// The numbers in the text of a discipline, `drr(quantum=300 B) + tail_drop(limit=20 packets)`: found and
// replaced as text, without knowing what any of them means.

export interface QueueNumber {
  name: string;
  value: number;
  unit: string;
  rounded(value: number): number;
  /** The whole text with another number in its place. */
  replaced(value: number): string;
}

const NUMBER = /([a-z_]\w*)\s*=\s*(\d+(?:\.\d+)?)\s*([a-zA-Zµ%/]*)(?=\s*[,)])/g;

export function numbersIn(text: string): QueueNumber[] {
  return [...text.matchAll(NUMBER)].map((match) => {
    const [whole, name = "", digits = "0", unit = ""] = match;
    const at = match.index;
    const start = Number(digits);
    const isWhole = Number.isInteger(start) && start >= 10;
    const rounded = (value: number) => (isWhole ? Math.round(value) : Number(value.toPrecision(2)));
    const replaced = (value: number) => {
      const again = `${name}=${rounded(value)}${unit ? ` ${unit}` : ""}`;
      return text.slice(0, at) + again + text.slice(at + whole.length);
    };
    return { name, value: start, unit, rounded, replaced };
  });
}

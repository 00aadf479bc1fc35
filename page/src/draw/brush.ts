// What pictures are drawn with; a canvas and a text of SVG can both be drawn on.

export interface Style {
  fill?: string;
  stroke?: string;
  width?: number;
  dash?: number[];
  alpha?: number;
}

export interface TextStyle {
  fill: string;
  size: number;
  align?: "left" | "center" | "right";
  bold?: boolean;
  alpha?: number;
  /** Turned by a quarter, to be read from below. */
  turned?: boolean;
}

export interface Brush {
  rect(x: number, y: number, width: number, height: number, radius: number, style: Style): void;
  /** A straight line. */
  line(x: number, y: number, toX: number, toY: number, style: Style): void;
  /** A path in the words of SVG. */
  path(words: string, style: Style): void;
  /** Text whose middle is at `y`. */
  text(x: number, y: number, text: string, style: TextStyle): void;
  /** How wide a text is. */
  measure(text: string, size: number, bold?: boolean): number;
}

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

/** A text that fits a width, cut with an ellipsis if it must be. */
export function fitted(brush: Brush, text: string, size: number, width: number, bold = false): string {
  if (brush.measure(text, size, bold) <= width) return text;
  let cut = text;
  while (cut.length > 1 && brush.measure(`${cut}…`, size, bold) > width) cut = cut.slice(0, -1);
  return `${cut}…`;
}

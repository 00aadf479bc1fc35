// A brush for a canvas.

import { type Brush, FONT, type Style, type TextStyle } from "./brush";

/** Widths of texts and paths that are kept at most: most of them are the same in the next frame. */
const KEPT = 4000;
const widths = new Map<string, number>();
const paths = new Map<string, Path2D>();

export class CanvasBrush implements Brush {
  private readonly context: CanvasRenderingContext2D;
  private font = "";

  constructor(context: CanvasRenderingContext2D) {
    this.context = context;
  }

  rect(x: number, y: number, width: number, height: number, radius: number, style: Style): void {
    const { context } = this;
    const [wide, tall] = [Math.max(width, 0), Math.max(height, 0)];
    const { fill } = style;
    if (fill !== undefined && style.stroke === undefined && (radius === 0 || wide < 5)) {
      // Many narrow packets: no path is needed, and corners would not be seen.
      context.globalAlpha = style.alpha ?? 1;
      context.fillStyle = fill;
      context.fillRect(x, y, wide, tall);
      context.globalAlpha = 1;
      return;
    }
    context.beginPath();
    context.roundRect(x, y, wide, tall, radius);
    this.painted(style);
  }

  line(x: number, y: number, toX: number, toY: number, style: Style): void {
    this.context.beginPath();
    this.context.moveTo(x, y);
    this.context.lineTo(toX, toY);
    this.painted(style);
  }

  path(words: string, style: Style): void {
    const known = paths.get(words);
    const path = known ?? new Path2D(words);
    if (paths.size >= KEPT) paths.clear();
    if (known === undefined) paths.set(words, path);
    this.painted(style, path);
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const { context } = this;
    this.write(style.size, style.bold);
    context.globalAlpha = style.alpha ?? 1;
    context.textAlign = style.align ?? "left";
    context.textBaseline = "middle";
    context.fillStyle = style.fill;
    if (style.turned) {
      context.save();
      context.translate(x, y);
      context.rotate(-Math.PI / 2);
      context.fillText(text, 0, 0.5);
      context.restore();
    } else {
      context.fillText(text, x, y + 0.5);
    }
    context.globalAlpha = 1;
  }

  measure(text: string, size: number, bold = false): number {
    const key = `${size} ${bold} ${text}`;
    const known = widths.get(key);
    if (known !== undefined) return known;
    if (widths.size >= KEPT) widths.clear();
    this.write(size, bold);
    const { width } = this.context.measureText(text);
    widths.set(key, width);
    return width;
  }

  /** Sets the font, which costs much, only if it is another one. */
  private write(size: number, bold = false): void {
    const wanted = font(size, bold);
    if (wanted === this.font) return;
    this.font = wanted;
    this.context.font = wanted;
  }

  private painted(style: Style, path?: Path2D): void {
    const { context } = this;
    context.globalAlpha = style.alpha ?? 1;
    if (style.fill !== undefined) {
      context.fillStyle = style.fill;
      if (path) context.fill(path);
      else context.fill();
    }
    if (style.stroke !== undefined) {
      context.strokeStyle = style.stroke;
      context.lineWidth = style.width ?? 1;
      context.setLineDash(style.dash ?? []);
      if (path) context.stroke(path);
      else context.stroke();
    }
    context.globalAlpha = 1;
  }
}

function font(size: number, bold = false): string {
  return `${bold ? 600 : 400} ${size}px ${FONT}`;
}

/** A canvas at the screen's resolution and its brush. */
export function fitted(canvas: HTMLCanvasElement, width: number, height: number): CanvasBrush | null {
  const ratio = window.devicePixelRatio || 1;
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  if (context === null) return null;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return new CanvasBrush(context);
}

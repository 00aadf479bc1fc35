// A brush for a canvas.

import { type Brush, FONT, type Style, type TextStyle } from "./brush";

export class CanvasBrush implements Brush {
  private readonly context: CanvasRenderingContext2D;

  constructor(context: CanvasRenderingContext2D) {
    this.context = context;
  }

  rect(x: number, y: number, width: number, height: number, radius: number, style: Style): void {
    const path = new Path2D();
    path.roundRect(x, y, Math.max(width, 0), Math.max(height, 0), radius);
    this.painted(path, style);
  }

  path(words: string, style: Style): void {
    this.painted(new Path2D(words), style);
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const { context } = this;
    context.globalAlpha = style.alpha ?? 1;
    context.font = font(style.size, style.bold);
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
    this.context.font = font(size, bold);
    return this.context.measureText(text).width;
  }

  private painted(path: Path2D, style: Style): void {
    const { context } = this;
    context.globalAlpha = style.alpha ?? 1;
    if (style.fill !== undefined) {
      context.fillStyle = style.fill;
      context.fill(path);
    }
    if (style.stroke !== undefined) {
      context.strokeStyle = style.stroke;
      context.lineWidth = style.width ?? 1;
      context.setLineDash(style.dash ?? []);
      context.stroke(path);
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

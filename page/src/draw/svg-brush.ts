// A brush that writes SVG.

import { type Brush, FONT, type Style, type TextStyle } from "./brush";

export class SvgBrush implements Brush {
  private readonly parts: string[] = [];
  private readonly ruler: Brush;

  /** `ruler` measures text, which a text of SVG can't. */
  constructor(ruler: Brush) {
    this.ruler = ruler;
  }

  rect(x: number, y: number, width: number, height: number, radius: number, style: Style): void {
    const size = `width="${short(Math.max(width, 0))}" height="${short(Math.max(height, 0))}"`;
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" ${size} rx="${short(radius)}"${paint(style)}/>`);
  }

  line(x: number, y: number, toX: number, toY: number, style: Style): void {
    this.path(`M${short(x)} ${short(y)}L${short(toX)} ${short(toY)}`, style);
  }

  path(words: string, style: Style): void {
    this.parts.push(`<path d="${words}"${paint(style)}/>`);
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const anchor = { left: "start", center: "middle", right: "end" }[style.align ?? "left"];
    const weight = style.bold ? ' font-weight="600"' : "";
    const alpha = style.alpha === undefined ? "" : ` opacity="${short(style.alpha)}"`;
    const at = `x="${short(x)}" y="${short(y)}" dominant-baseline="central" text-anchor="${anchor}"`;
    const turn = style.turned ? ` transform="rotate(-90 ${short(x)} ${short(y)})"` : "";
    const look = `font-size="${style.size}" fill="${style.fill}"${weight}${alpha}${turn}`;
    this.parts.push(`<text ${at} ${look}>${escaped(text)}</text>`);
  }

  measure(text: string, size: number, bold = false): number {
    return this.ruler.measure(text, size, bold);
  }

  /** What was drawn. */
  content(): string {
    return this.parts.join("\n");
  }

  /** The whole picture, with more of it behind what was drawn. */
  document(width: number, height: number, title: string, more = ""): string {
    const box = `width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}"`;
    const font = escaped(FONT);
    const open = `<svg xmlns="http://www.w3.org/2000/svg" ${box} font-family="${font}" role="img">`;
    return `${open}<title>${escaped(title)}</title>${this.content()}${more}</svg>\n`;
  }
}

function paint(style: Style): string {
  const fill = ` fill="${style.fill ?? "none"}"`;
  const dash = style.dash?.length ? ` stroke-dasharray="${style.dash.join(" ")}"` : "";
  const stroke =
    style.stroke === undefined ? "" : ` stroke="${style.stroke}" stroke-width="${style.width ?? 1}"${dash}`;
  return `${fill}${stroke}${style.alpha === undefined ? "" : ` opacity="${short(style.alpha)}"`}`;
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Text for SVG: nothing of it is read as a mark. */
export function escaped(text: string): string {
  const signs: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (sign) => signs[sign] ?? sign);
}

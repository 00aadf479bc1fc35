// What goes out of the page: pictures, tables, the scenario.

import { CanvasBrush } from "../draw/canvas-brush";
import { QueuePicture, type Scene } from "../draw/queue";
import { SvgBrush } from "../draw/svg-brush";
import type { Table } from "../protocol";

/** Hands a file to the browser. */
export function download(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Pictures one beneath the other, each with a line above it. */
export interface Sheet {
  width: number;
  parts: { title: string; scene: Scene }[];
}

const HEADING = 26;
const MARGIN = 14;

/** The queues that are seen, as SVG. */
export function svgOf({ width, parts }: Sheet): string {
  const context = document.createElement("canvas").getContext("2d");
  if (context === null) throw new Error("this browser can't measure text");
  const ruler = new CanvasBrush(context);
  const theme = parts[0]?.scene.theme;
  const heights = parts.map(({ scene }) => new QueuePicture().height(width, scene) + HEADING + MARGIN);
  const whole = { width: width + 2 * MARGIN, height: heights.reduce((sum, each) => sum + each, MARGIN) };
  let top = MARGIN;
  const groups = parts.map(({ title, scene }, at) => {
    const brush = new SvgBrush(ruler);
    brush.text(0, 8, title, { fill: scene.theme.ink, size: 14, bold: true });
    const picture = new SvgBrush(ruler);
    new QueuePicture().draw(picture, width, { ...scene, moves: false, selected: null });
    const move = `<g transform="translate(${MARGIN} ${top})">`;
    top += heights[at] ?? 0;
    return `${move}${brush.content()}<g transform="translate(0 ${HEADING})">${picture.content()}</g></g>`;
  });
  const paper = new SvgBrush(ruler);
  paper.rect(0, 0, whole.width, whole.height, 0, { fill: theme?.paper ?? "#ffffff" });
  return paper.document(
    whole.width,
    whole.height,
    parts.map(({ title }) => title).join("; "),
    groups.join("\n"),
  );
}

/** The same picture as PNG, at twice its size. */
export async function pngOf(sheet: Sheet): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgOf(sheet))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * 2;
  canvas.height = image.height * 2;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made"))),
      "image/png",
    );
  });
}

/** A table as CSV (RFC 4180), units in its heading. */
export function csvOf(table: Table): string {
  const head = table.columns.map(({ name, unit }) => (unit ? `${name} (${unit})` : name));
  return [head, ...table.rows]
    .map((row) => row.map(cell).join(","))
    .join("\r\n")
    .concat("\r\n");
}

function cell(value: string | number | boolean | null | undefined): string {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

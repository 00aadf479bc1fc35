// What was measured since the start of a run, flow by flow.

import { flowColour, flowShape, type Theme } from "../draw/colours";
import { withUnit } from "../draw/numbers";
import type { Measures } from "../protocol";
import type { PaneRun } from "../run/pane";
import { h } from "./dom";

/** Rows at most; the CSV has all. */
const ROWS = 24;

export function measuresTable(pane: PaneRun, measures: Measures, theme: Theme): HTMLElement {
  const titles = ["flow", "share", "throughput", "delay", "drops", "marks", "late"];
  const head = h(
    "tr",
    {},
    ...titles.map((title, at) => h("th", { scope: "col", class: at > 0 && "number" }, title)),
  );
  const rows = measures.flows.slice(0, ROWS).map((flow, at) => {
    const cells = [
      `${(flow.share * 100).toFixed(1)} %`,
      withUnit(flow.throughput_bit_per_s, "bit/s"),
      seconds(flow.delay_mean_s),
      String(flow.drops),
      String(flow.marks),
      seconds(flow.late_max_s),
    ];
    const name = h("th", { scope: "row" }, key(at, theme), pane.begun.flows[at]?.name ?? String(at));
    return h("tr", {}, name, ...cells.map((cell) => h("td", { class: "number" }, cell)));
  });
  const table = h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows));
  const label = `measures of pane ${pane.index + 1}`;
  const scroll = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, table);
  return h("div", { class: "plot" }, h("p", { class: "summary" }, whole(measures)), scroll);
}

/** The measures of the whole link in a sentence. */
function whole(measures: Measures): string {
  const parts = [`utilisation ${(measures.utilisation * 100).toFixed(1)} %`];
  if (measures.jain !== null) parts.unshift(`Jain ${measures.jain.toFixed(3)}`);
  if (measures.late_max_packets !== null) {
    parts.push(`at most ${Number(measures.late_max_packets.toPrecision(3))} packets later than the fluid`);
  }
  for (const [reason, count] of Object.entries(measures.drops)) {
    if (count > 0) parts.push(`${count} dropped: ${reason.replaceAll("_", " ")}`);
  }
  return parts.join(" · ");
}

function seconds(value: number | null): string {
  return value === null ? "–" : withUnit(value, "s");
}

function key(flow: number, theme: Theme): SVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 14 14");
  svg.setAttribute("class", "key");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", flowShape(flow, 7, 7, 5));
  path.setAttribute("fill", flowColour(flow, theme));
  svg.append(path);
  return svg;
}

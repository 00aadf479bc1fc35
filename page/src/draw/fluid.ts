// The fluid beneath the packets: what each flow would still have to send, were all served bit by bit.

import type { Brush } from "./brush";
import { flowColour, flowShape, type Theme } from "./colours";
import type { Layout } from "./layout";
import { bytes, tag } from "./numbers";
import type { Scene } from "./queue";

export function drawFluid(brush: Brush, at: Layout, scene: Scene, scale: number): void {
  const { snapshot, theme } = scene;
  const fluid = snapshot.fluid;
  const top = at.fluidTop;
  brush.path(`M0 ${top}H${at.width}`, { stroke: theme.line, width: 1 });
  brush.text(0, top + 13, "fluid", { fill: theme.faint, size: 12, bold: true });
  const words = "served bit by bit, all flows at once";
  if (at.width > 420) brush.text(38, top + 13, words, { fill: theme.faint, size: 12 });
  if (fluid === null) {
    brush.text(at.width - 2, top + 13, "none here", { fill: theme.faint, size: 12, align: "right" });
    return;
  }
  const round = `R(t) = ${tag(Number(fluid.round.toFixed(2)))}`;
  brush.text(at.width - 2, top + 13, round, { fill: theme.ink, size: 12, align: "right", bold: true });
  const backlogs = new Map(fluid.flows.map((flow) => [flow.flow, flow.backlog_bytes]));
  for (const lane of at.fluid) {
    const y = lane.y + lane.height / 2;
    const backlog = backlogs.get(lane.flow) ?? 0;
    brush.path(flowShape(lane.flow, 8, y, 3), { fill: flowColour(lane.flow, theme) });
    const label = { fill: theme.faint, size: Math.min(11, lane.height) };
    if (lane.height >= 9) brush.text(20, y, bytes(backlog), label);
    brush.rect(at.labelsTo, lane.y, at.headX - at.labelsTo, lane.height, 3, { fill: theme.lane });
    const wide = Math.min(backlog * scale, at.headX - at.labelsTo - 3);
    const style = { fill: flowColour(lane.flow, theme), alpha: 0.75 };
    if (wide > 0) brush.rect(at.headX - 3 - wide, lane.y + 1, wide, lane.height - 2, 2, style);
  }
  streams(brush, at, backlogs, theme);
}

/** A stream for each flow that the fluid serves now. */
function streams(brush: Brush, at: Layout, backlogs: Map<number, number>, theme: Theme): void {
  const served = at.fluid.filter((lane) => (backlogs.get(lane.flow) ?? 0) > 0);
  const tall = Math.min(30, at.fluid.length * (at.fluid[0]?.height ?? 8));
  const top = at.fluidY - tall / 2;
  brush.rect(at.lineX, top, at.lineWidth, tall, 4, { fill: theme.lane, stroke: theme.line });
  const each = tall / Math.max(1, served.length);
  served.forEach((lane, place) => {
    const y = lane.y + lane.height / 2;
    const to = top + (place + 0.5) * each;
    const middle = (at.headX + at.lineX) / 2;
    const colour = flowColour(lane.flow, theme);
    const way = `M${at.headX + 2} ${y}C${middle} ${y} ${middle} ${to} ${at.lineX} ${to}`;
    brush.path(way, { stroke: colour, width: Math.min(3, each), alpha: 0.55 });
    brush.rect(at.lineX + 1, to - each / 2 + 0.5, at.lineWidth - 2, Math.max(1, each - 1), 2, {
      fill: colour,
    });
  });
}

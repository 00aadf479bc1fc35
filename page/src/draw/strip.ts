// The strip of packets over time: a thin line while a packet waits, a box while it is sent, a tick where the
// fluid would have ended it, a cross where it was dropped.

import type { LinePacket, Timeline } from "../protocol";
import type { Brush } from "./brush";
import { flowColour, flowShape, type Theme } from "./colours";
import { instant } from "./numbers";
import type { Named } from "./queue";

export interface StripScene {
  width: number;
  flows: number;
  timeline: Timeline;
  spanS: number;
  clockS: number;
  theme: Theme;
  lit: Named | null;
}

/** Flows that have a lane at most. */
const LANES = 12;
const LEFT = 22;

export function stripHeight(flows: number): number {
  const lanes = Math.min(flows, LANES);
  return lanes * laneHeight(lanes) + 24;
}

function laneHeight(lanes: number): number {
  return lanes <= 4 ? 26 : lanes <= 8 ? 20 : 15;
}

export function drawStrip(brush: Brush, scene: StripScene): void {
  const { width, flows, timeline, theme } = scene;
  const lanes = Math.min(flows, LANES);
  const tall = laneHeight(lanes);
  brush.rect(0, 0, width, stripHeight(flows), 0, { fill: theme.paper });
  for (let flow = 0; flow < lanes; flow += 1) {
    const y = flow * tall;
    brush.rect(LEFT, y + 1, width - LEFT, tall - 2, 3, { fill: theme.lane });
    brush.path(flowShape(flow, 8, y + tall / 2, 4), { fill: flowColour(flow, theme) });
  }
  for (const packet of timeline.packets) if (packet.flow < lanes) drawPacket(brush, scene, packet, tall);
  axis(brush, scene, lanes * tall);
}

function place(scene: StripScene, timeS: number): number {
  const from = scene.clockS - scene.spanS;
  const x = LEFT + ((timeS - from) / scene.spanS) * (scene.width - LEFT);
  return Math.min(Math.max(x, LEFT), scene.width);
}

function drawPacket(brush: Brush, scene: StripScene, packet: LinePacket, tall: number): void {
  const { theme, clockS, lit } = scene;
  const y = packet.flow * tall + tall / 2;
  const colour = flowColour(packet.flow, theme);
  const isLit = lit !== null && lit.flow === packet.flow && lit.sequence === packet.sequence;
  const began = packet.began_s ?? clockS;
  const from = place(scene, packet.arrived_s);
  if (packet.fate === "dropped") {
    brush.path(`M${from - 3} ${y - 3}l6 6m0 -6l-6 6`, { stroke: theme.alarm, width: 1.8 });
    return;
  }
  // Waits that overlap in one lane stand at heights of their own.
  const offset = ((packet.sequence % 5) - 2) * (tall / 8);
  brush.line(from, y + offset, place(scene, began), y + offset, {
    stroke: colour,
    width: isLit ? 3 : 1.2,
    alpha: isLit ? 1 : 0.6,
  });
  if (packet.began_s !== null) {
    const x = place(scene, packet.began_s);
    const to = place(scene, packet.sent_s ?? clockS);
    const look = isLit ? { fill: colour, stroke: theme.ink, width: 2 } : { fill: colour };
    if (to > x) brush.rect(x + 0.5, y - tall * 0.34, Math.max(1, to - x - 1), tall * 0.68, 2, look);
  }
  if (packet.fluid_s !== null && packet.fluid_s <= clockS && packet.fluid_s > clockS - scene.spanS) {
    const x = place(scene, packet.fluid_s);
    brush.line(x, y - tall * 0.46, x, y + tall * 0.46, { stroke: theme.ink, width: 1.5 });
  }
  if (packet.marked) brush.path(flowShape(2, from, y - tall * 0.3, 3), { fill: theme.ink });
}

function axis(brush: Brush, scene: StripScene, y: number): void {
  const { theme, clockS, spanS, width } = scene;
  const step = niceStep(spanS / 5);
  const from = clockS - spanS;
  for (let tick = Math.ceil(from / step) * step; tick <= clockS; tick += step) {
    if (tick < 0) continue;
    const x = place(scene, tick);
    brush.path(`M${x} ${y}v4`, { stroke: theme.line });
    if (x > 40 && x < width - 30) {
      brush.text(x, y + 13, instant(tick, step * 100), { fill: theme.faint, size: 10.5, align: "center" });
    }
  }
}

/** A step of 1, 2 or 5 times a power of ten. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const ratio = least / power;
  return (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10) * power;
}

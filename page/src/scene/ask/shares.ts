// "What does each get?": the learner drags a bar for each flow, or for one flow in each pane.

import type { Measures, Pane } from "../../lab";
import { h, unique } from "../../ui/dom";
import { button } from "../button";
import { measuredValue } from "../claims";
import { type Ask, MEASURES } from "../types";
import { formatted } from "../words";
import { type Asking, type End, playToEnd } from "./asking";

type AskShares = Extract<Ask, { kind: "shares" }>;

/** A bar: whose it is, and the value that the learner says. */
interface Bar {
  name: string;
  pane: number;
  flow: number;
  input: HTMLInputElement;
  answer: HTMLElement;
}

/** Asks for the bars, plays to the end, and shows what was measured beside them. */
export function askShares(asking: Asking<AskShares>): End {
  const { lab, scene, ask, place, finish } = asking;
  const bars = barsOf(lab.panes, asking);
  const rows = bars.map((bar) => rowOf(bar, ask));
  const sum = h("p", { class: "scene-sum" });
  let end: End = () => {};
  const isWhole = ask.measure === "share" && ask.flow === null;
  const update = () => {
    const all = bars.reduce((total, bar) => total + said(bar), 0);
    if (isWhole) sum.textContent = `Together ${formatted(all, "share")} of the link.`;
  };
  const reveal = async () => {
    const measures = await Promise.all(lab.panes.map((pane) => pane.measures(scene.from)));
    finish(scored(bars, measures, ask, isWhole));
  };
  const start = button(
    "Let it run",
    () => {
      for (const bar of bars) bar.input.disabled = true;
      const skip = button("Skip to the end", () => lab.runTo(scene.end));
      start.replaceWith(skip);
      skip.focus();
      end = playToEnd(lab, scene, () => {
        skip.remove();
        reveal().catch(() => {});
      });
    },
    "scene-first",
  );
  for (const bar of bars) bar.input.addEventListener("input", update);
  update();
  place.append(h("div", { class: "scene-bars" }, ...rows), sum, start);
  return () => end();
}

function barsOf(panes: readonly Pane[], { scene, ask }: Asking<AskShares>): Bar[] {
  const made = (name: string, pane: number, flow: number): Bar => ({
    name,
    pane,
    flow,
    input: h("input", { type: "range", min: "0", max: "100", step: "1", value: "0" }),
    answer: h("span", { class: "scene-measured" }),
  });
  if (ask.flow === null) {
    return (panes[ask.pane]?.begun.flows ?? []).map(({ name }, flow) => made(name, ask.pane, flow));
  }
  return panes.map((pane, index) => {
    const flow = pane.begun.flows.findIndex(({ name }) => name === ask.flow);
    return made(`${ask.flow}, ${scene.panes[index]?.name ?? pane.begun.queue}`, index, flow);
  });
}

function rowOf(bar: Bar, ask: AskShares): HTMLElement {
  const id = unique("bar");
  bar.input.id = id;
  bar.input.dataset.most = String(ask.most);
  const value = h("output", { for: id });
  const update = () => {
    value.textContent = formatted(said(bar), ask.measure);
    bar.input.setAttribute("aria-valuetext", value.textContent);
  };
  bar.input.addEventListener("input", update);
  update();
  const label = h("label", { for: id }, bar.name);
  return h("div", { class: "scene-bar" }, label, bar.input, value, bar.answer);
}

/** What the learner says, in the measure's own unit. */
function said(bar: Bar): number {
  return (Number(bar.input.value) / 100) * Number(bar.input.dataset.most);
}

/**
 * 1 for what was measured. Shares that make a whole lose half of the sum of their distances, other values
 * the mean of their distances, each as a part of the larger of the two.
 */
function scored(bars: Bar[], measures: Measures[], ask: AskShares, isWhole: boolean): number {
  let lost = 0;
  for (const bar of bars) {
    const of = measures[bar.pane];
    const value = (of === undefined ? null : measuredValue(of, ask.measure, bar.flow)) ?? 0;
    bar.answer.textContent = `${MEASURES[ask.measure].words} measured: ${formatted(value, ask.measure)}`;
    const distance = Math.abs(said(bar) - value);
    lost += isWhole ? distance / 2 : distance / Math.max(said(bar), value, Number.MIN_VALUE) / bars.length;
  }
  return Math.max(0, 1 - lost);
}

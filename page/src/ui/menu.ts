// Small dialogs at the pointer: what can be done to a packet, and packets that are put in by hand.

import type { Hit } from "../draw/queue";
import type { Hand } from "../protocol";
import { type Context, run } from "./context";
import { h } from "./dom";

/** A dialog that a click beside it or Escape closes; the focus goes back to where it was. */
export function popup(
  page: Context,
  title: string,
  near: HTMLElement,
  ...content: Node[]
): HTMLDialogElement {
  const close = h(
    "button",
    { type: "button", class: "close", "aria-label": "close", onclick: () => dialog.close() },
    "×",
  );
  const head = h("header", {}, h("h2", {}, title), close);
  const dialog = h("dialog", { class: "popup", "aria-label": title }, head, ...content);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    near.focus({ preventScroll: true });
    page.redraw();
  });
  page.root.append(dialog);
  dialog.showModal();
  dialog.querySelector<HTMLElement>("[data-first]")?.focus();
  return dialog;
}

/** Drop, mark or delay a packet that waits. */
export function openPacketMenu(page: Context, pane: 0 | 1, hit: Hit, near: HTMLElement): void {
  const { lab } = page;
  const flow = lab.panes[pane]?.begun.flows[hit.flow]?.name ?? "";
  const title = `Packet ${hit.sequence} of ${flow}`;
  if (hit.sending) {
    popup(page, title, near, h("p", {}, "It is on the line: nothing can be done to it any more."));
    return;
  }
  const rate = lab.panes[pane]?.begun.rate_bit_per_s ?? 1e6;
  const delay = h("input", {
    type: "number",
    min: 0,
    step: "any",
    value: Number((24e6 / rate).toPrecision(2)),
  });
  const keys = new Map<string, () => void>();
  const act = (name: string, hand: () => Hand, key: string) => {
    const press = () => done(hand());
    keys.set(key, press);
    return h(
      "button",
      { type: "button", onclick: press, "data-first": key === "d" },
      name,
      h("kbd", {}, key),
    );
  };
  const done = (hand: Hand) => {
    dialog.close();
    run(lab.hand(pane, hand));
  };
  const row = h("div", { class: "row" });
  row.append(act("Drop", () => ({ drop: hit.packet }), "d"));
  row.append(act("Mark", () => ({ mark: hit.packet }), "m"));
  row.append(act("Delay", () => ({ hold: { packet: hit.packet, for_s: Number(delay.value) / 1000 } }), "h"));
  const label = h("label", {}, "delay, ms ", delay);
  const dialog = popup(page, title, near, row, label);
  dialog.addEventListener("keydown", (event) => {
    if (event.target !== delay) keys.get(event.key)?.();
  });
}

/** Packets of a flow, put into the queue now. */
export function openInject(page: Context, pane: 0 | 1, flow: number, near: HTMLElement): void {
  const { lab } = page;
  const flows = lab.panes[pane]?.begun.flows ?? [];
  const which = h(
    "select",
    { "data-first": true },
    ...flows.map(({ name }, at) => h("option", { value: at }, name)),
  );
  which.value = String(flow);
  const size = h("input", { type: "number", min: 1, max: 65_535, value: 1000 });
  const count = h("input", { type: "number", min: 1, max: 1000, value: 1 });
  const both = h("input", { type: "checkbox", checked: true });
  const fields = h(
    "div",
    { class: "fields" },
    h("label", {}, "flow ", which),
    h("label", {}, "bytes ", size),
  );
  fields.append(h("label", {}, "packets ", count));
  if (lab.panes.length > 1) fields.append(h("label", { class: "check" }, both, " in both queues"));
  const form = h("form", { method: "dialog" }, fields, h("button", { class: "main" }, "Put in"));
  form.addEventListener("submit", () => {
    const offer = { flow: Number(which.value), bytes: Number(size.value), count: Number(count.value) };
    const panes = both.checked ? lab.panes.map((each) => each.index) : [pane];
    for (const each of panes) run(lab.hand(each, { offer }));
  });
  popup(page, "Put packets in", near, form);
}

// The larger dialogs: the scenario's text, what can be saved, the keys.

import { encode } from "../run/address";
import { type Context, run } from "./context";
import { h } from "./dom";
import { KEYS } from "./keys";
import { popup } from "./menu";
import type { PaneView } from "./pane-view";
import { csvOf, download, pngOf, type Sheet, svgOf } from "./save";

/** The scenario as text: write, paste, open a file, save. */
export function openScenario(page: Context, near: HTMLElement): void {
  const { lab } = page;
  const text = h("textarea", { spellcheck: "false", rows: 22, "aria-label": "scenario, TOML" });
  text.value = lab.source?.text ?? "";
  let name = lab.source?.name ?? "scenario.toml";
  const file = h("input", { type: "file", accept: ".toml,text/plain", "aria-label": "open a file" });
  file.addEventListener("change", () => {
    const chosen = file.files?.[0];
    if (chosen !== undefined)
      run(readFile(chosen).then((source) => ({ name, text: text.value } = { ...source, ...set(source) })));
  });
  const set = (source: { text: string }) => {
    text.value = source.text;
    return source;
  };
  const refused = h("p", { class: "refused", role: "alert" });
  const show = async () => {
    try {
      await lab.open({ name, text: text.value });
      dialog.close();
    } catch (fault) {
      refused.textContent = fault instanceof Error ? fault.message : String(fault);
    }
  };
  const row = h("div", { class: "row" });
  row.append(h("button", { type: "button", class: "main", onclick: () => run(show()) }, "Show it"));
  row.append(h("button", { type: "button", onclick: () => download(name, text.value) }, "Save as a file"));
  row.append(h("label", {}, "open a file ", file));
  const dialog = popup(page, "Scenario", near, text, refused, row);
  dialog.classList.add("wide");
}

/** The largest file that is read as a scenario, bytes. */
const FILE_AT_MOST = 4_000_000;

/** A file as a scenario's text; a file that can't be one is refused. */
export async function readFile(file: File): Promise<{ name: string; text: string }> {
  if (file.size > FILE_AT_MOST) {
    const size = (file.size / 1e6).toFixed(1);
    throw new Error(
      `${file.name} has ${size} MB: a scenario for this page has at most ${FILE_AT_MOST / 1e6} MB.`,
    );
  }
  const bytes = await file.arrayBuffer();
  try {
    return { name: file.name, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    throw new Error(`${file.name} is no text: a scenario is a TOML file.`);
  }
}

/** Link, pictures, tables. */
export function openSave(page: Context, views: PaneView[], near: HTMLElement): void {
  const { lab } = page;
  const sheet = (): Sheet => ({
    width: Math.max(480, Math.min(900, page.root.clientWidth / views.length)),
    parts: lab.panes.map((pane, at) => ({
      title: `${pane.name ?? pane.begun.queue}, ${Number(pane.snapshot.now_s.toPrecision(6))} s`,
      scene: (views[at] as PaneView).scene(pane, false),
    })),
  });
  const stem = (lab.source?.name ?? "scenario").replace(/\.toml$/, "");
  const told = h("p", { class: "summary", role: "status" });
  const act = (name: string, work: () => unknown) => {
    const press = () => Promise.resolve(work()).catch((fault: unknown) => lab.emit("fault", String(fault)));
    return h("button", { type: "button", onclick: press }, name);
  };
  const link = async () => {
    const address = `${location.href.split("#")[0]}#${await encode(lab.state())}`;
    await copy(address);
    told.textContent = `The link was copied, ${address.length} characters. It is the picture as it stands.`;
  };
  const row = h("div", { class: "row" });
  row.append(
    act("Copy the link", link),
    act("Picture, PNG", async () => download(`${stem}.png`, await pngOf(sheet()))),
  );
  row.append(act("Picture, SVG", () => download(`${stem}.svg`, svgOf(sheet()), "image/svg+xml")));
  row.append(act("Scenario, TOML", () => download(`${stem}.toml`, lab.source?.text ?? "")));
  const tables = h("div", { class: "row" });
  for (const pane of lab.panes) {
    for (const name of ["flows", "links", "queues", "states", "waiting", "series"]) {
      const label = lab.panes.length > 1 ? `${name}, ${pane.name ?? pane.index + 1}` : name;
      const table = async () => {
        const got = await lab.client.ask("table", { run: pane.index, name });
        download(`${stem}-${name}.csv`, csvOf(got), "text/csv");
      };
      tables.append(act(label, table));
    }
  }
  popup(page, "Share and save", near, row, h("h3", {}, "Tables, CSV"), tables, told);
}

/** The clipboard, or a selected text where a page may not write to it. */
async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "hidden-text" });
    area.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** The list of keys, and how to read the picture. */
export function openHelp(page: Context, near: HTMLElement): void {
  const rows = KEYS.map(({ keys, words }) =>
    h("tr", {}, h("th", { scope: "row" }, ...keys.map((key) => h("kbd", {}, key))), h("td", {}, words)),
  );
  const read = [
    "Each lane holds the packets of one flow; packets that share a queue stand in its order, the next one at the right.",
    "The numbers in a packet are its start and finish number, or what else its discipline gave it.",
    "The fluid serves all flows at once, bit by bit. Its bars are what it would still have to send.",
    "In the strip a line is a packet that waits, a box its transmission, a tick the end that the fluid gives it, a cross a drop.",
  ];
  const list = h("ul", {}, ...read.map((line) => h("li", {}, line)));
  const version = h(
    "p",
    { class: "summary" },
    `fairq ${page.about.version}. All runs in this page; nothing is sent anywhere.`,
  );
  const table = h("table", { class: "keys" }, h("tbody", {}, ...rows));
  popup(
    page,
    "Help",
    near,
    h("h3", {}, "Keys"),
    table,
    h("h3", {}, "How to read the picture"),
    list,
    version,
  );
}

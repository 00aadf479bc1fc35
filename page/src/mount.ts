// Puts the lab into an element: the simulator, the runs, the page around them.

import type { Lab, State } from "./lab";
import { Page } from "./page";
import type { Parts } from "./parts";
import type { Source } from "./protocol";
import { Client } from "./run/client";
import { Laboratory } from "./run/laboratory";
import { fillScene } from "./scene/state";
import { h } from "./ui/dom";
import "uplot/dist/uPlot.min.css";
import "./style.css";

export interface Options {
  /** Opened at first, instead of the first scene. */
  scenario?: Source;
  state?: State;
  /** The simulator, if it is not the build's own. */
  wasm?: ArrayBuffer | URL;
  /** The address holds the state: for a page of its own. */
  hash?: boolean;
}

export async function mount(element: HTMLElement, options: Options, parts: Parts): Promise<Lab> {
  element.classList.add("fairq-lab");
  document.body.dataset.state = "loading";
  if (typeof WebAssembly === "undefined") {
    const words =
      "This browser has no WebAssembly, which the lab needs. `fairq run FILE` runs a scenario without it.";
    return refuse(element, words);
  }
  const beside = options.hash ? scenarioBeside() : Promise.resolve(null);
  element.replaceChildren(h("p", { class: "loading", role: "status" }, "The simulator is loading …"));
  let client: Client;
  try {
    client = new Client(parts.worker(), await simulator(options.wasm, parts));
  } catch (fault) {
    return refuse(
      element,
      `The simulator could not be loaded: ${fault instanceof Error ? fault.message : fault}.`,
    );
  }
  const about = await client.ask("about");
  const lab = new Laboratory(client, about.version, fillScene);
  const page = new Page(element, lab, about, options.hash ?? false);
  await page.open(options, beside);
  return lab;
}

/** `fairq lab net.toml` serves the scenario beside the page; it is asked for while the simulator loads. */
async function scenarioBeside(): Promise<Source | null> {
  if (!location.protocol.startsWith("http")) return null;
  try {
    const answer = await fetch("scenario.json", { cache: "no-store" });
    const isJson = answer.headers.get("content-type")?.includes("json") ?? false;
    return answer.ok && isJson ? ((await answer.json()) as Source | null) : null;
  } catch {
    return null;
  }
}

async function simulator(wasm: ArrayBuffer | URL | undefined, parts: Parts): Promise<WebAssembly.Module> {
  if (wasm === undefined) return parts.module();
  return wasm instanceof URL ? WebAssembly.compileStreaming(fetch(wasm)) : WebAssembly.compile(wasm);
}

/** Says on the page why there is no lab. */
function refuse(element: HTMLElement, words: string): never {
  element.replaceChildren(h("p", { class: "fault", role: "alert" }, words));
  document.body.dataset.state = "fault";
  throw new Error(words);
}

// The page of the folder: simulator and worker are files beside it.

import { type Options, mount as put } from "./mount";
import type { Parts } from "./parts";

const parts: Parts = {
  module: async () => {
    const answer = await fetch(new URL("fairq_lab.wasm", document.baseURI));
    if (!answer.ok)
      throw new Error(`the server has no fairq_lab.wasm beside the page (status ${answer.status})`);
    // A server that doesn't know the type of WebAssembly is no reason to show nothing.
    const typed = answer.headers.get("content-type") === "application/wasm";
    return typed ? WebAssembly.compileStreaming(answer) : WebAssembly.compile(await answer.arrayBuffer());
  },
  worker: () => new Worker(new URL("./run/worker.ts", import.meta.url), { type: "module" }),
};

export const mount = (element: HTMLElement, options: Options = {}) => put(element, options, parts);

const place = document.getElementById("fairq-lab");
if (place !== null) mount(place, { hash: true }).catch(() => {});

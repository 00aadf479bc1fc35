// Simulator and worker inside the code, for builds of one file.

import wasm from "virtual:simulator";
import type { Parts } from "./parts";
import InlineWorker from "./run/worker.ts?worker&inline";

export const parts: Parts = {
  module: async () => {
    const bytes = Uint8Array.from(atob(wasm), (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return WebAssembly.compile(await new Response(plain).arrayBuffer());
  },
  worker: () => new InlineWorker(),
};

// What a build gives the page besides its code: the simulator and its worker. The folder fetches them; the one
// file and the notebook's module hold them.

export interface Parts {
  module(): Promise<WebAssembly.Module>;
  worker(): Worker;
}

// The simulator in WebAssembly: text of a request in, text of its answer out.

interface Exports {
  memory: WebAssembly.Memory;
  alloc(length: number): number;
  call(pointer: number, length: number): number;
  answer_length(): number;
  panic_text(): number;
  panic_length(): number;
}

/** An error inside the simulator: its instance is lost, and a new one must begin again. */
export class Trap extends Error {}

/** One instance of the simulator. */
export class Engine {
  private readonly exports: Exports;

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
  }

  /** Answers a request; throws `Trap` if the simulator failed. */
  call(request: string): string {
    const bytes = new TextEncoder().encode(request);
    try {
      const at = this.exports.alloc(bytes.length);
      new Uint8Array(this.exports.memory.buffer, at >>> 0, bytes.length).set(bytes);
      const answer = this.exports.call(at, bytes.length);
      return this.text(answer, this.exports.answer_length());
    } catch (cause) {
      throw new Trap(this.panic(cause));
    }
  }

  private text(at: number, length: number): string {
    return new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, at >>> 0, length >>> 0));
  }

  /** What the simulator said before it failed, in one line. */
  private panic(cause: unknown): string {
    const said = this.text(this.exports.panic_text(), this.exports.panic_length());
    return (said || String(cause)).split("\n")[0] ?? "";
  }
}

// The state of the page in its address: `#1.` and the deflated JSON of it, in base64 for addresses.

import type { State } from "../lab";

/** Why an address can't be read, in one line. */
export class AddressFault extends Error {}

const VERSION = 1;

/** The part of the address behind `#`. */
export async function encode(state: State): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  return `${VERSION}.${toBase64(await through(bytes, new CompressionStream("deflate")))}`;
}

/** The state that an address holds; an address that isn't wholly understood is refused. */
export async function decode(hash: string): Promise<State> {
  const text = hash.replace(/^#/, "");
  const dot = text.indexOf(".");
  const version = text.slice(0, dot);
  if (dot < 1 || !/^\d+$/.test(version)) throw new AddressFault("This link is not one of the lab's.");
  if (Number(version) !== VERSION) throw new AddressFault(otherVersion(version));
  let value: unknown;
  try {
    const bytes = await through(fromBase64(text.slice(dot + 1)), new DecompressionStream("deflate"));
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new AddressFault("This link is broken: part of it may be missing. Copy it again, whole.");
  }
  return checked(value);
}

/** A value from elsewhere as a state, or a fault. */
export function checked(value: unknown): State {
  if (!isRecord(value)) throw new AddressFault("This is no state of the lab.");
  if (value.v !== VERSION) throw new AddressFault(otherVersion(String(value.v)));
  if (typeof value.text !== "string" && typeof value.scene !== "string") {
    throw new AddressFault("This link names neither a scene nor a scenario.");
  }
  const wrong = firstWrong(value);
  if (wrong !== null) throw new AddressFault(`This link is not understood: its \`${wrong}\` is malformed.`);
  return value as unknown as State;
}

function otherVersion(version: string): string {
  return `This link is of version ${version.slice(0, 20)} of the lab's links; this page reads version ${VERSION}.`;
}

/** The rule of each field; a field without a rule is foreign. */
const RULES: Record<string, (value: unknown) => boolean> = {
  v: (value) => value === VERSION,
  fairq: isText,
  scene: isText,
  text: isText,
  name: isText,
  files: (value) => isRecord(value) && Object.values(value).every(isText),
  seed: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  link: (value) => value === null || isText(value),
  direction: (value) => value === null || value === "forward" || value === "reverse",
  panes: (value) => Array.isArray(value) && value.length <= 2 && value.every(isPane),
  step: (value) => Array.isArray(value) && value.every((step) => Number.isSafeInteger(step) && step >= 0),
  speed: (value) => typeof value === "number" && value > 0 && Number.isFinite(value),
};

function firstWrong(value: Record<string, unknown>): string | null {
  for (const [name, field] of Object.entries(value)) {
    const rule = RULES[name];
    if (rule === undefined || !rule(field)) return name.slice(0, 40);
  }
  // A scene has panes of its own; a scenario has not.
  const panes = (value.panes as unknown[] | undefined)?.length ?? 0;
  return panes > 0 || typeof value.scene === "string" ? null : "panes";
}

function isPane(value: unknown): boolean {
  if (!isRecord(value) || !Array.isArray(value.sets) || !Array.isArray(value.log)) return false;
  const sets = value.sets.every((set) => Array.isArray(set) && set.length === 2 && isText(set[0]));
  return sets && value.log.every((entry) => isRecord(entry) && Number.isSafeInteger(entry.step));
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Bytes through a stream that deflates or inflates them. */
async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: TransformStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

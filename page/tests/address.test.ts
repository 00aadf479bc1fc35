// The state in the address: what comes back is what went in, and nothing is half-read.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { State } from "../src/lab";
import { AddressFault, decode, encode } from "../src/run/address";

const STATE: State = {
  v: 1,
  fairq: "0.1.0",
  text: 'title = "µ — ü"\n',
  name: "net.toml",
  seed: 7,
  link: "uplink",
  direction: "forward",
  panes: [
    { name: "FIFO", sets: [["links.0.queue", "fifo"]], log: [] },
    { sets: [], log: [{ offer: { flow: 0, bytes: 500, count: 2 }, step: 12, at_ps: 5 }] },
  ],
  step: [12, 40],
  speed: 0.4,
};

test("a state survives the way through the address", async () => {
  const hash = await encode(STATE);
  assert.match(hash, /^1\.[A-Za-z0-9_-]+$/);
  assert.deepEqual(await decode(`#${hash}`), STATE);
});

test("every shorter address is refused", async () => {
  const hash = await encode(STATE);
  for (let length = 0; length < hash.length; length += 1) {
    await assert.rejects(decode(hash.slice(0, length)), AddressFault, `the first ${length} letters`);
  }
});

test("a changed letter is refused or gives a state that is whole", async () => {
  const hash = await encode(STATE);
  for (let at = 2; at < hash.length; at += 1) {
    const other = hash[at] === "A" ? "B" : "A";
    const read = await decode(hash.slice(0, at) + other + hash.slice(at + 1)).catch((fault) => fault);
    if (read instanceof Error) assert.ok(read instanceof AddressFault, `${at}: ${read}`);
    else assert.ok(Array.isArray(read.panes) && read.v === 1);
  }
});

test("another version is named in the refusal", async () => {
  await assert.rejects(decode("#2.abc"), /version 2/);
  await assert.rejects(decode("#0.abc"), /version 0/);
  await assert.rejects(decode("#nonsense"), /not one of the lab's/);
});

test("a field that is foreign or of another type is refused by its name", async () => {
  const foreign: [object, RegExp][] = [
    [{ ...STATE, more: 1 }, /`more`/],
    [{ ...STATE, seed: -1 }, /`seed`/],
    [{ ...STATE, panes: [] }, /`panes`/],
    [{ ...STATE, panes: [{ sets: [], log: [{}] }] }, /`panes`/],
    [{ ...STATE, step: [0.5] }, /`step`/],
    [{ ...STATE, speed: 0 }, /`speed`/],
    [{ v: 1, panes: STATE.panes }, /neither a scene nor a scenario/],
  ];
  for (const [state, words] of foreign) {
    await assert.rejects(decode(await encode(state as State)), words);
  }
});

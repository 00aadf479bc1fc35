// Files of scenes are checked when the page is built, and the live text says what a queue holds.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readScenes } from "../scenes-plugin";
import type { FlowInfo, Snapshot } from "../src/protocol";
import { checkScene } from "../src/scene/check";
import { describe } from "../src/scene/words";

/** The fields of a scene; `changed` replaces some of them. */
function table(changed: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    title: "A title",
    sentence: "A sentence.",
    about: "A source.",
    scenario: "edition = 2",
    link: "uplink",
    panes: [{ queue: "fifo" }, { queue: "fq" }],
    end: 2,
    speed: 0.1,
    ask: { kind: "next", question: "Which?", reveal: "That.", at: 1 },
    claims: [{ measure: "jain", at_least: 0.9 }],
    ...changed,
  };
}

test("a scene's short forms become whole", () => {
  const scene = checkScene("short", table());
  assert.deepEqual(scene.panes[1], { name: "fq", sets: [["links.uplink.queue", "fq"]] });
  assert.equal(scene.seed, 1);
  assert.equal(scene.ask.kind === "next" && scene.ask.rounds, 3);
});

const WRONG: [change: Record<string, unknown>, says: RegExp][] = [
  [{ titel: "x" }, /^titel: there is no such field/],
  [{ end: "2 s" }, /^end: a number/],
  [{ panes: [] }, /^panes: one or two/],
  [{ panes: [{ queue: "fq", sets: [["a", 1]] }] }, /^panes\[0\]\.sets: .*texts/],
  [{ ask: { kind: "guess", question: "?", reveal: "!" } }, /^ask\.kind: /],
  [{ claims: [{ measure: "share", at_least: 0.1 }] }, /^claims\[0\]\.flow: share is a measure of one flow/],
  [{ claims: [{ measure: "jain", at_least: 0.1, pane: 2 }] }, /^claims\[0\]\.pane: there is no such pane/],
  [{ claims: [{ measure: "jain" }] }, /^claims\[0\]\.at_least: /],
];

for (const [change, says] of WRONG) {
  test(`a scene is refused: ${says.source}`, () => {
    assert.throws(() => checkScene("wrong", table(change)), { message: says });
  });
}

test("all scenes of the page are whole, and each ends after it asks", () => {
  const scenes = readScenes();
  assert.ok(scenes.length >= 9);
  for (const { id, ask, end } of scenes) assert.ok(ask.kind !== "next" || ask.at < end, id);
});

const FLOWS: FlowInfo[] = [
  { name: "A", weight: 1 },
  { name: "B", weight: 1 },
];

function snapshot(): Snapshot {
  const packet = { queue: 0, place: 1, arrived_s: 0, rank: null, bytes: 500 };
  return {
    now_s: 0.5,
    sending: null,
    waiting: [
      { ...packet, packet: 1, serial: 1, flow: 0, sequence: 3, start: 1000, finish: 1500 },
      { ...packet, packet: 2, serial: 2, flow: 1, sequence: 7, start: 700, finish: 1200 },
    ],
    waiting_more: 0,
    held_packets: 2,
    readings: [],
    decision: null,
  } as unknown as Snapshot;
}

test("the live text names the packet whose finish number is the least", () => {
  const text = describe({ begun: { queue: "fq" } } as never, snapshot(), FLOWS);
  assert.match(text, /Packet 7 of B waits; its finish number 1200 is the least\./);
  assert.match(text, /Packet 3 of A waits: 500 B, start number 1000, finish number 1500\./);
});

test("a packet that was put in by hand has no number of its flow", () => {
  const added = snapshot();
  const [first] = added.waiting;
  if (first !== undefined) first.sequence = 18446744073709552000;
  assert.match(describe({ begun: { queue: "fq" } } as never, added, FLOWS), /Added packet 1 of A waits/);
});

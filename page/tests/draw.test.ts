// The drawing's own arithmetic: numbers, places, text of SVG.

import assert from "node:assert/strict";
import { test } from "node:test";
import { flowColour, flowShape, inkOn, LIGHT } from "../src/draw/colours";
import { bytesAhead } from "../src/draw/layout";
import { instant, tag, withUnit } from "../src/draw/numbers";
import { escaped } from "../src/draw/svg-brush";
import type { Snapshot, Waiting } from "../src/protocol";
import { numbersOf } from "../src/run/queue-text";
import { csvOf } from "../src/ui/save";

const packet = (serial: number, queue: number, place: number, bytes: number) =>
  ({ serial, queue, place, bytes, flow: queue }) as Waiting;

test("numbers have a unit of fitting size and no needless digits", () => {
  assert.equal(withUnit(56_000, "bit/s"), "56 kbit/s");
  assert.equal(withUnit(0.0012, "s"), "1.2 ms");
  assert.equal(withUnit(1e9, "bit/s"), "1 Gbit/s");
  assert.equal(withUnit(0, "B"), "0 B");
  assert.equal(instant(1.5, 6), "1.5000 s");
  assert.equal(tag(1200), "1200");
  assert.equal(tag(0.333333), "0.3333");
});

test("packets of one queue stand behind each other, those of another queue do not", () => {
  const waiting = [packet(1, 0, 1, 500), packet(2, 0, 0, 1000), packet(3, 1, 0, 100)];
  const ahead = bytesAhead({ waiting } as unknown as Snapshot);
  assert.deepEqual([...ahead.entries()].sort(), [
    [1, 1000],
    [2, 0],
    [3, 0],
  ]);
});

test("no two of 64 flows have both the colour and the shape of another", () => {
  const looks = Array.from({ length: 64 }, (_, flow) => flowColour(flow, LIGHT) + flowShape(flow, 0, 0, 5));
  assert.equal(new Set(looks).size, 64);
});

test("ink on a flow's colour has a contrast of 4.5 at least", () => {
  const light = (colour: string) => {
    const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
    const [r, g, b] = parts.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0);
  };
  for (const theme of [LIGHT, { ...LIGHT, dark: true }]) {
    for (let flow = 0; flow < 8; flow += 1) {
      const [one = 0, two = 0] = [flowColour(flow, theme), inkOn(flowColour(flow, theme))].map(light);
      const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
      assert.ok(contrast >= 4.5, `flow ${flow}: ${contrast}`);
    }
  }
});

test("a name is text in SVG and one cell in CSV", () => {
  assert.equal(escaped('<img src="x">&'), "&lt;img src=&quot;x&quot;&gt;&amp;");
  const table = { columns: [{ name: "flow", unit: "" }], rows: [['a,"b"'], [null]] };
  assert.equal(csvOf(table), 'flow\r\n"a,""b"""\r\n\r\n');
});

test("the numbers of a discipline's text are found and replaced in their place", () => {
  const text = "drr(quantum=300 B) + tail_drop(limit=20packets)";
  const numbers = numbersOf(text, "drr", []);
  assert.deepEqual(
    numbers.map(({ name, value, unit }) => [name, value, unit]),
    [
      ["quantum", 300, "B"],
      ["limit", 20, "packets"],
    ],
  );
  assert.equal(numbers[0]?.replaced(450.4), "drr(quantum=450 B) + tail_drop(limit=20packets)");
  assert.equal(numbers[1]?.replaced(5), "drr(quantum=300 B) + tail_drop(limit=5 packets)");
});

test("a setting that only the card names is added to the text", () => {
  const settings = [
    { name: "delta", type: "size", default: "0 B", doc: "how far back" },
    { name: "preemptive", type: "boolean", default: false, doc: "" },
  ];
  const [delta, none] = numbersOf("fq + tail_drop", "fq", settings);
  assert.equal(none, undefined);
  assert.equal(delta?.replaced(1000), "fq(delta=1000 B) + tail_drop");
  const [, also] = numbersOf("fq(on=1) + tail_drop", "fq", settings);
  assert.equal(also?.replaced(500), "fq(delta=500 B, on=1) + tail_drop");
});

/** Makes a scene from the table that its file holds, or says which field is wrong. */

import {
  type Ask,
  type Claim,
  MEASURES,
  type Measure,
  type Scene,
  type ScenePane,
  type SetOf,
} from "./types";

type Table = Record<string, unknown>;

/** A field that is missing, of a wrong kind or unknown. */
export class SceneFault extends Error {}

/** Takes fields out of a table, so that those that are left over can be refused. */
class Fields {
  private readonly left: Set<string>;
  private readonly table: Table;
  private readonly place: string;

  constructor(table: Table, place: string) {
    this.table = table;
    this.place = place;
    this.left = new Set(Object.keys(table));
  }

  fault(field: string, needed: string): never {
    throw new SceneFault(`${this.place}${field}: ${needed}`);
  }

  take(field: string): unknown {
    this.left.delete(field);
    return this.table[field];
  }

  text(field: string, otherwise?: string): string {
    const value = this.take(field) ?? otherwise;
    return typeof value === "string" ? value.trim() : this.fault(field, "a text is needed");
  }

  number(field: string, otherwise?: number): number {
    const value = this.take(field) ?? otherwise;
    return typeof value === "number" && Number.isFinite(value)
      ? value
      : this.fault(field, "a number is needed");
  }

  optionalNumber(field: string): number | null {
    return field in this.table ? this.number(field) : null;
  }

  optionalText(field: string): string | null {
    return field in this.table ? this.text(field) : null;
  }

  tables(field: string, otherwise?: Table[]): Table[] {
    const value = this.take(field) ?? otherwise;
    const isTables = Array.isArray(value) && value.every(isTable);
    return isTables ? value : this.fault(field, "a list of tables is needed");
  }

  inner(field: string): Table {
    const value = this.take(field);
    return isTable(value) ? value : this.fault(field, "a table is needed");
  }

  measure(field: string, otherwise?: Measure): Measure {
    const name = this.text(field, otherwise);
    return name in MEASURES
      ? (name as Measure)
      : this.fault(field, `one of ${Object.keys(MEASURES).join(", ")}`);
  }

  end(): void {
    for (const field of this.left) this.fault(field, "there is no such field");
  }
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The scene that a table holds; `id` is the name of its file without number and ending. */
export function checkScene(id: string, table: Table): Scene {
  const fields = new Fields(table, "");
  const link = fields.text("link");
  const panes = fields.tables("panes").map((pane, index) => readPane(pane, `panes[${index}].`, link));
  if (panes.length < 1 || panes.length > 2) fields.fault("panes", "one or two are needed");
  const scene: Scene = {
    id,
    title: fields.text("title"),
    sentence: fields.text("sentence"),
    about: fields.text("about"),
    scenario: `${fields.text("scenario")}\n`,
    link,
    seed: fields.number("seed", 1),
    panes,
    from: fields.number("from", 0),
    end: fields.number("end"),
    speed: fields.number("speed"),
    ask: readAsk(fields.inner("ask"), panes.length),
    claims: fields
      .tables("claims")
      .map((claim, index) => readClaim(claim, `claims[${index}].`, panes.length)),
  };
  fields.end();
  if (scene.end <= scene.from) fields.fault("end", "it must be later than from");
  if (scene.speed <= 0) fields.fault("speed", "it must be above 0");
  if (scene.claims.length === 0) fields.fault("claims", "at least one is needed");
  return scene;
}

function readPane(table: Table, place: string, link: string): ScenePane {
  const fields = new Fields(table, place);
  const queue = fields.optionalText("queue");
  const sets: SetOf[] = queue === null ? [] : [[`links.${link}.queue`, queue]];
  sets.push(...readSets(fields, "sets"));
  const name = fields.text("name", queue ?? undefined);
  fields.end();
  return { name, sets };
}

function readSets(fields: Fields, field: string): SetOf[] {
  const value = fields.take(field) ?? [];
  if (!Array.isArray(value) || !value.every(isSet)) {
    return fields.fault(field, 'a list of pairs of texts is needed, as [["links.uplink.queue", "fq"]]');
  }
  return value;
}

function isSet(value: unknown): value is SetOf {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "string");
}

function readClaim(table: Table, place: string, panes: number): Claim {
  const fields = new Fields(table, place);
  const claim: Claim = {
    measure: fields.measure("measure"),
    pane: readPaneNumber(fields, panes),
    flow: fields.optionalText("flow"),
    at_least: fields.optionalNumber("at_least"),
    at_most: fields.optionalNumber("at_most"),
    says: fields.optionalText("says"),
  };
  fields.end();
  if (MEASURES[claim.measure].ofFlow !== (claim.flow !== null)) {
    fields.fault(
      "flow",
      `${claim.measure} is a measure of ${claim.flow === null ? "one flow" : "the whole link"}`,
    );
  }
  if (claim.at_least === null && claim.at_most === null)
    fields.fault("at_least", "at_least or at_most is needed");
  return claim;
}

function readPaneNumber(fields: Fields, panes: number): number {
  const pane = fields.number("pane", 0);
  return Number.isInteger(pane) && pane >= 0 && pane < panes
    ? pane
    : fields.fault("pane", "there is no such pane");
}

function readAsk(table: Table, panes: number): Ask {
  const fields = new Fields(table, "ask.");
  const words = {
    question: fields.text("question"),
    hint: fields.text("hint", ""),
    reveal: fields.text("reveal"),
  };
  const ask = { ...words, ...readKind(fields, panes) } as Ask;
  fields.end();
  return ask;
}

function readKind(fields: Fields, panes: number) {
  const kind = fields.text("kind");
  switch (kind) {
    case "next":
      return {
        kind,
        at: fields.number("at"),
        rounds: fields.number("rounds", 3),
        pane: readPaneNumber(fields, panes),
      };
    case "shares":
      return {
        kind,
        pane: readPaneNumber(fields, panes),
        measure: fields.measure("measure", "share"),
        flow: fields.optionalText("flow"),
        most: fields.number("most", 1),
      };
    case "build":
      return {
        kind,
        solution: fields.tables("solution").map((step, index) => readStep(step, `ask.solution[${index}].`)),
      };
    case "switch":
      if (panes !== 2) fields.fault("kind", "switch needs two panes");
      return { kind, button: fields.text("button") };
    default:
      return fields.fault("kind", "next, shares, build or switch is needed");
  }
}

function readStep(table: Table, place: string) {
  const fields = new Fields(table, place);
  const at = fields.number("at");
  const set = fields.take("set");
  if (set !== undefined) {
    fields.end();
    return isSet(set)
      ? { at, set }
      : fields.fault("set", 'a pair of texts is needed, as ["flows.telnet.weight", "2"]');
  }
  const offer = new Fields(fields.inner("offer"), `${place}offer.`);
  const read = { flow: offer.text("flow"), bytes: offer.number("bytes"), count: offer.number("count", 1) };
  offer.end();
  fields.end();
  return { at, offer: read };
}

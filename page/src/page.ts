// The page: its parts, and what makes them follow the runs.

import { DARK, LIGHT, type Theme } from "./draw/colours";
import type { Named } from "./draw/queue";
import { embed } from "./embed";
import type { State } from "./lab";
import type { Options } from "./mount";
import type { About, Source } from "./protocol";
import { AddressFault, decode, encode } from "./run/address";
import type { Laboratory } from "./run/laboratory";
import { mountScenes, type SceneControl } from "./scene";
import { describe } from "./scene/words";
import { Changes } from "./ui/changes";
import type { Context } from "./ui/context";
import { run } from "./ui/context";
import { Controls } from "./ui/controls";
import { Curves } from "./ui/curves";
import { openHelp, openSave, openScenario, readFile } from "./ui/dialogs";
import { h, setText } from "./ui/dom";
import { listen } from "./ui/keys";
import { openInject } from "./ui/menu";
import { PaneView } from "./ui/pane-view";

/** The address and the live text follow after this long without a change, milliseconds. */
const SETTLED_MS = 250;
/** While the run plays, the live text is said this often, milliseconds. */
const SAID_MS = 4000;

export class Page implements Context {
  readonly lab: Laboratory;
  readonly about: About;
  readonly root: HTMLElement;
  lit: Named | null = null;
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");
  private readonly calm = matchMedia("(prefers-reduced-motion: reduce)");
  private readonly panesPart = h("div", { class: "panes" });
  private readonly fault = h("p", { class: "fault", role: "alert" });
  private readonly live = h("p", { class: "live", "aria-live": "polite" });
  private readonly panel = h("section", { class: "scene-panel", "aria-label": "scene" });
  private readonly title = h("p", { class: "title" });
  private readonly controls: Controls;
  private readonly curves: Curves;
  private readonly changes: Changes;
  private readonly scenes: SceneControl;
  private views: PaneView[] = [];
  private readonly hash: boolean;
  private own = "";
  private word = "";
  private frame = 0;
  private settled = 0;
  private said = 0;

  /** `isPage`: the page is all there is, and holds its state in the address. */
  constructor(root: HTMLElement, lab: Laboratory, about: About, isPage: boolean) {
    this.root = root;
    this.lab = lab;
    this.about = about;
    this.hash = isPage;
    lab.onSay = (text) => {
      this.word = text;
      setText(this.live, text);
    };
    lab.onDone = () => setText(this.fault, "");
    this.controls = new Controls(this);
    this.curves = new Curves(this);
    this.changes = new Changes(this);
    const work = h(
      "div",
      { class: "work" },
      this.fault,
      this.panesPart,
      this.live,
      this.changes.element,
      this.curves.element,
    );
    root.replaceChildren(this.bar(), h("div", { class: "body" }, this.panel, work), this.controls.element);
    this.scenes = mountScenes(lab, this.panel);
    this.listen(isPage);
    Object.assign(window, { fairqLab: lab, fairqScenes: this.scenes });
  }

  theme(): Theme {
    return this.dark.matches ? DARK : LIGHT;
  }

  redraw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  /** What is shown first: the address, what was given, the scenario beside the page, the first scene. */
  async open(options: Options, beside: Promise<Source | null>): Promise<void> {
    if (this.hash && location.hash.length > 1 && (await this.fromAddress(location.hash))) return;
    // What was wrong with the address stays in sight when something else is shown in its place.
    const refused = this.fault.textContent ?? "";
    await this.first(options, beside);
    if (refused !== "") setText(this.fault, refused);
  }

  private async first(options: Options, beside: Promise<Source | null>): Promise<void> {
    try {
      if (options.state !== undefined) await this.load(options.state);
      else if (options.scenario !== undefined) await this.lab.open(options.scenario);
      else {
        const source = await beside;
        if (source === null) await this.scenes.open("first");
        else await this.lab.open(source);
      }
    } catch (fault) {
      this.tell(fault);
      if (this.lab.panes.length === 0) run(this.scenes.open("first"));
    }
  }

  /** Shows a state, and its scene's panel. */
  async load(state: State): Promise<void> {
    await this.lab.load(state);
    if (state.scene !== undefined) await this.scenes.open(state.scene, true);
    else if (this.scenes.current !== null) this.scenes.close();
  }

  private async fromAddress(hash: string): Promise<boolean> {
    try {
      await this.load(await decode(hash));
      return true;
    } catch (fault) {
      this.tell(fault);
      return this.lab.panes.length > 0;
    }
  }

  private bar(): HTMLElement {
    const button = (words: string, key: string, act: (near: HTMLElement) => void) => {
      const made = h("button", { type: "button", title: `${words} (${key})` }, words);
      made.addEventListener("click", () => act(made));
      return made;
    };
    const nav = h("div", { class: "row" });
    nav.append(button("Scenes", "s", () => this.toScenes()));
    nav.append(button("Scenario", "e", (near) => openScenario(this, near)));
    nav.append(button("Share and save", "w", (near) => openSave(this, this.views, near)));
    nav.append(button("Help", "?", (near) => openHelp(this, near)));
    const name = h("h1", {}, "fairq ", h("span", {}, "lab"));
    return h("header", { class: "bar" }, name, this.title, nav);
  }

  private toScenes(): void {
    if (this.scenes.current !== null) this.scenes.close();
    this.panel.scrollIntoView({ block: "nearest" });
    this.panel.querySelector<HTMLElement>("button")?.focus();
  }

  private listen(isPage: boolean): void {
    const { lab } = this;
    lab.on("begin", () => this.begin());
    lab.on("change", () => this.changed());
    lab.on("fault", (text) => this.tell(text));
    const again = () => {
      this.curves.show();
      this.redraw();
    };
    this.dark.addEventListener("change", again);
    new ResizeObserver(again).observe(this.root);
    const view = () => this.views[lab.active];
    const near = () => view()?.canvas ?? this.root;
    // In a notebook the keys are the lab's only while it has the focus.
    listen(isPage ? document : this.root, {
      page: this,
      controls: this.controls,
      view,
      scenes: () => this.toScenes(),
      scenario: () => openScenario(this, near()),
      save: () => openSave(this, this.views, near()),
      help: () => openHelp(this, near()),
    });
    this.changes.element.querySelector("[data-act=inject]")?.addEventListener("click", () => {
      openInject(this, lab.active, view()?.chosen()?.flow ?? 0, near());
    });
    this.drop();
    embed(lab, (state) => this.load(state));
    window.addEventListener("hashchange", (event) => {
      // The event's own address: by now the page may have written its state over it.
      const { hash } = new URL(event.newURL);
      if (this.hash && hash.length > 1 && hash !== this.own) run(this.fromAddress(hash));
    });
  }

  /** A file that is dropped on the page is a scenario. */
  private drop(): void {
    this.root.addEventListener("dragover", (event) => event.preventDefault());
    this.root.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file === undefined) return;
      readFile(file)
        .then((source) => this.lab.open(source))
        .catch((fault) => this.tell(fault));
    });
  }

  private begin(): void {
    const { lab } = this;
    while (this.views.length < lab.panes.length) {
      const view = new PaneView(this, this.views.length as 0 | 1);
      this.views.push(view);
      this.panesPart.append(view.element);
    }
    while (this.views.length > lab.panes.length) this.views.pop()?.element.remove();
    if (lab.scene === null && this.scenes.current !== null) this.scenes.close();
    this.views.forEach((view, at) => {
      const pane = lab.panes[at];
      if (pane !== undefined) view.begin(pane);
    });
    this.panesPart.classList.toggle("two", lab.panes.length > 1);
    setText(this.title, lab.panes[0]?.begun.title ?? "");
    this.controls.begin();
    this.changes.begin();
    this.curves.begin();
  }

  private changed(): void {
    this.redraw();
    const { lab, root } = this;
    const ready = lab.panes.length > 0 ? "ready" : "loading";
    const state = lab.busy !== null ? "busy" : ready;
    root.dataset.state = state;
    document.body.dataset.state = state;
    if (lab.playing && performance.now() - this.said < SAID_MS) return;
    clearTimeout(this.settled);
    this.settled = window.setTimeout(() => this.settle(), SETTLED_MS);
  }

  /** After a change: the live text, and the address while the run stands. */
  private settle(): void {
    const { lab } = this;
    const pane = lab.panes[lab.active];
    if (pane === undefined || lab.busy !== null) return;
    this.said = performance.now();
    // What a scene or an action has just said stays before the words of the state.
    setText(this.live, `${this.word} ${describe(pane, pane.snapshot, pane.begun.flows)}`.trim());
    this.word = "";
    if (this.hash && !lab.playing) run(this.toAddress());
  }

  private async toAddress(): Promise<void> {
    this.own = `#${await encode(this.lab.state())}`;
    history.replaceState(null, "", this.own);
  }

  private tell(fault: unknown): void {
    const text = fault instanceof Error ? fault.message : String(fault);
    setText(this.fault, text);
    if (!this.hash || !(fault instanceof AddressFault)) return;
    // A broken address is gone from the page, so that a reload doesn't say it again.
    history.replaceState(null, "", this.own || location.href.split("#")[0]);
  }

  private draw(): void {
    this.frame = 0;
    const { lab } = this;
    const moves = !this.calm.matches;
    let more = lab.playing;
    this.views.forEach((view, at) => {
      const pane = lab.panes[at];
      if (pane !== undefined && view.draw(pane, moves)) more = true;
    });
    this.controls.draw();
    this.changes.draw();
    this.curves.draw();
    if (more) this.redraw();
  }
}

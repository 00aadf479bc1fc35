/** A scene as its file `page/scenes/NN-id.toml` says it, checked: data and text, no code. */

/** What a claim or a question measures, of one flow or of a whole pane. */
export const MEASURES = {
  share: { unit: "%", scale: 100, ofFlow: true, words: "share of the link" },
  throughput_bit_per_s: { unit: "kbit/s", scale: 0.001, ofFlow: true, words: "throughput" },
  delay_mean_s: { unit: "ms", scale: 1000, ofFlow: true, words: "mean delay" },
  delay_max_s: { unit: "ms", scale: 1000, ofFlow: true, words: "largest delay" },
  drops: { unit: "packets", scale: 1, ofFlow: true, words: "dropped packets" },
  jain: { unit: "", scale: 1, ofFlow: false, words: "Jain's index" },
  utilisation: { unit: "%", scale: 100, ofFlow: false, words: "utilisation" },
  late_max_packets: { unit: "packets", scale: 1, ofFlow: false, words: "largest lateness against the fluid" },
} as const;

export type Measure = keyof typeof MEASURES;

/** A change of one field of the scenario, as `--set PATH=VALUE`. */
export type SetOf = [path: string, value: string];

/** One of the one or two queues that a scene shows, by what it changes in the scenario. */
export interface ScenePane {
  name: string;
  sets: SetOf[];
}

/** What holds at the end of a scene; in a scene to build: the goal. */
export interface Claim {
  measure: Measure;
  pane: number;
  /** Absent where the measure is one of the whole link. */
  flow: string | null;
  at_least: number | null;
  at_most: number | null;
  /** The claim in words; made from the numbers if the scene does not say it. */
  says: string | null;
}

/** The learner picks the packet that leaves next. */
export interface AskNext {
  kind: "next";
  at: number;
  rounds: number;
  pane: number;
}

/** The learner drags a bar for each flow of a pane, or for one flow in each pane. */
export interface AskShares {
  kind: "shares";
  pane: number;
  measure: Measure;
  /** The flow whose bar is asked in each pane; absent: a bar for each flow of `pane`. */
  flow: string | null;
  /** The top of a bar, in the measure's own unit (1 is the whole link). */
  most: number;
}

/** A change by hand at an instant, of a scene's own solution. */
export type SolutionStep = { at: number } & (
  | { set: SetOf }
  | { offer: { flow: string; bytes: number; count: number } }
);

/** The learner changes the run until the claims hold. */
export interface AskBuild {
  kind: "build";
  solution: SolutionStep[];
}

/** One pane is shown; a button shows the second beside it. */
export interface AskSwitch {
  kind: "switch";
  button: string;
}

export type Ask = { question: string; hint: string; reveal: string } & (
  | AskNext
  | AskShares
  | AskBuild
  | AskSwitch
);

export interface Scene {
  id: string;
  title: string;
  sentence: string;
  about: string;
  /** Text of a scenario, TOML. */
  scenario: string;
  link: string;
  seed: number;
  panes: ScenePane[];
  /** Measured from here to `end`, seconds of the run. */
  from: number;
  end: number;
  /** Seconds of the run in a second of the clock. */
  speed: number;
  ask: Ask;
  claims: Claim[];
}

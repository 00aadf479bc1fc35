// What a scene claims, held against what was measured.

import type { FlowInfo, FlowMeasures, Measures } from "../protocol";
import { type Claim, MEASURES, type Measure, type Scene } from "./types";
import { formatted } from "./words";

/** A claim with what was measured; `value` is `null` if nothing was, as the delay of a flow without packets. */
export interface Outcome {
  claim: Claim;
  value: number | null;
  holds: boolean;
}

/** The value of a measure, of a flow or of the whole link. */
export function measuredValue(measures: Measures, measure: Measure, flow: number): number | null {
  if (MEASURES[measure].ofFlow) return measures.flows[flow]?.[measure as keyof FlowMeasures] ?? null;
  return measures[measure as "jain" | "utilisation" | "late_max_packets"];
}

/** The claims of a scene held against the measures of its panes. */
export function outcomes(scene: Scene, measures: Measures[], flows: readonly FlowInfo[]): Outcome[] {
  return scene.claims.map((claim) => {
    const flow = claim.flow === null ? -1 : flows.findIndex(({ name }) => name === claim.flow);
    const of = measures[claim.pane];
    const value = of === undefined ? null : measuredValue(of, claim.measure, flow);
    return { claim, value, holds: value !== null && isWithin(value, claim) };
  });
}

function isWithin(value: number, claim: Claim): boolean {
  return (
    value >= (claim.at_least ?? Number.NEGATIVE_INFINITY) &&
    value <= (claim.at_most ?? Number.POSITIVE_INFINITY)
  );
}

/** A claim in words. */
export function said(claim: Claim, scene: Scene): string {
  if (claim.says !== null) return claim.says;
  const bounds = [
    claim.at_least === null ? [] : [`at least ${formatted(claim.at_least, claim.measure)}`],
    claim.at_most === null ? [] : [`at most ${formatted(claim.at_most, claim.measure)}`],
  ];
  const of = claim.flow === null ? "" : ` of ${claim.flow}`;
  return `${scene.panes[claim.pane]?.name}: ${MEASURES[claim.measure].words}${of} ${bounds.flat().join(" and ")}.`;
}

import { DEPTHS } from "../render/theme.ts";

/** A bar of less than this share of a column is still seen. */
const LEAST_DEPTH = 0.22;
/** Share that stands for an event without any length. */
export const EVENT_ALONE = 1e-9;

/** Depth of colour, 0..DEPTHS, for a covered share. */
export function depthOf(share: number): number {
  if (!(share > 0)) return 0;
  const depth = LEAST_DEPTH + (1 - LEAST_DEPTH) * (share > 1 ? 1 : share);
  return Math.round(depth * DEPTHS);
}

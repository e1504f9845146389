import type { Lane, LaneTree } from "./lanes.ts";

/**
 * Lane groups for querying. One question asks for the visible lanes of one
 * chunk; at most one is in flight a chunk. A root group with many lanes is a
 * chunk of its own; small neighbours share one, so that a trace of a thousand
 * little processes is not a thousand questions. Chunks never change with the
 * view: answers stay comparable.
 */

export type ChunkKind = "window" | "counter" | "trace";

export interface Chunk {
  readonly id: number;
  /** `counter`: counters of plain traces, which SR cannot carry, always asked aggregated. */
  readonly kind: ChunkKind;
  readonly lanes: readonly Lane[];
}

/** Small root groups are joined until they hold this many lanes. */
const CHUNK_LANES = 64;

function kindOf(lane: Lane): ChunkKind {
  if (lane.isEvent) return "trace";
  return lane.kind === "counter" ? "counter" : "window";
}

function byKind(root: Lane): Map<ChunkKind, Lane[]> {
  const out = new Map<ChunkKind, Lane[]>();
  const walk = (lane: Lane): void => {
    if (lane.dataKey !== "") {
      const kind = kindOf(lane);
      const list = out.get(kind);
      if (list === undefined) out.set(kind, [lane]);
      else list.push(lane);
    }
    lane.children.forEach(walk);
  };
  walk(root);
  return out;
}

export function makeChunks(tree: LaneTree): Chunk[] {
  const chunks: Chunk[] = [];
  const filling = new Map<ChunkKind, Lane[]>();
  const flush = (kind: ChunkKind): void => {
    const lanes = filling.get(kind);
    if (lanes !== undefined && lanes.length > 0) chunks.push({ id: chunks.length, kind, lanes });
    filling.delete(kind);
  };
  for (const root of tree.roots) {
    for (const [kind, lanes] of byKind(root)) {
      const open = filling.get(kind) ?? [];
      if (open.length > 0 && open.length + lanes.length > CHUNK_LANES) flush(kind);
      filling.set(kind, [...(filling.get(kind) ?? []), ...lanes]);
    }
  }
  for (const kind of [...filling.keys()]) flush(kind);
  return chunks;
}

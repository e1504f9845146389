import type { Answer, LaneData } from "../wire/answers.ts";

function viewsOf(lane: LaneData): ArrayBufferView[] {
  if (lane.form === "points") return [lane.time, lane.value, lane.id, lane.name];
  if (lane.form === "steps") return [lane.last, lane.min, lane.max, lane.count];
  if (lane.form === "density") return [lane.count];
  if (lane.form === "bars") {
    return lane.rows.flatMap((row) =>
      [row.start, row.end, row.name, row.color, row.flags, row.id]);
  }
  return lane.rows.flatMap((row) =>
    [row.busy, row.depth, row.count, row.longest, row.name, row.color]);
}

/** All buffers of an answer, each once: handed over, not copied. */
export function transferables(answer: Answer): ArrayBuffer[] {
  const views = [...answer.lanes.values()].flatMap(viewsOf);
  if (answer.details !== null) views.push(answer.details.bytes, answer.details.offsets);
  if (answer.values !== null) views.push(answer.values);
  const buffers = new Set<ArrayBuffer>();
  for (const view of views) {
    if (view.buffer instanceof ArrayBuffer && view.byteLength > 0) buffers.add(view.buffer);
  }
  return [...buffers];
}

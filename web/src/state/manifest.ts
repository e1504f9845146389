import type { ClockFile, ClockNode, Clocks } from "../wire/types.ts";

/** A manifest from offsets, and the offsets that an open trace has from one. */

/** The timeline of a file that names no clock: the manifest leaves it out. */
const PRIVATE = "TRACE_FILE";

export type Offsets = Readonly<Record<string, bigint>>;

/** Text of an offset field: whole ns, or null where it is none. */
export function parseOffset(text: string): bigint | null {
  const plain = text.replace(/[\s_\u202f]/g, "");
  return /^[+-]?\d{1,19}$/.test(plain) ? BigInt(plain) : null;
}

/** The clock of a file that most of its facts count by. */
export function mainClock(clocks: Clocks, file: ClockFile): ClockNode | undefined {
  const own = file.clocks.map((id) => clocks.clocks.find((one) => one.id === id));
  return own.reduce((best, one) =>
    ((one?.facts ?? -1) > (best?.facts ?? -1) ? one : best), own[0]);
}

export function isReference(clocks: Clocks, file: ClockFile): boolean {
  return clocks.trace_time !== null && file.clocks.includes(clocks.trace_time.id);
}

/** Offsets that came from a manifest: kept when the trace is opened anew. */
export function manifestOffsets(clocks: Clocks): Offsets {
  const out: Record<string, bigint> = {};
  for (const file of clocks.files) {
    const path = mainClock(clocks, file)?.path ?? [];
    const [step] = path;
    if (path.length !== 1 || step?.source !== "manifest") continue;
    out[file.path] = BigInt(Math.round(step.first_offset_ns));
  }
  return out;
}

/** The manifest that sets these offsets against trace time, or null where there are none. */
export function makeManifest(clocks: Clocks, offsets: Offsets): object | null {
  const reference = clocks.trace_time;
  if (reference === null) return null;
  const files = clocks.files.flatMap((file) => {
    const offset = offsets[file.path];
    if (offset === undefined || isReference(clocks, file)) return [];
    const clock = mainClock(clocks, file)?.clock ?? PRIVATE;
    return [{
      path: file.path,
      clocks: {
        ...(clock === PRIVATE ? {} : { clock }),
        sync_to: {
          file: reference.file,
          ...(reference.clock === PRIVATE ? {} : { clock: reference.clock }),
        },
        offset_ns: offset,
      },
    }];
  });
  if (files.length === 0) return null;
  // What is referred to must stand in the list.
  return { meridian_manifest: { version: 1, files: [{ path: reference.file }, ...files] } };
}

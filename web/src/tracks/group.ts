/** Rows of an answer grouped by a small integer key, their order kept. */
export interface Groups {
  /** Row numbers, group after group. */
  readonly order: Uint32Array;
  /** Group g is order[from[g] .. from[g + 1]). */
  readonly from: Uint32Array;
}

/** Counting sort by key; rows with a negative key are left out. */
export function groupBy(keys: Int32Array, groups: number, count = keys.length): Groups {
  const from = new Uint32Array(groups + 1);
  for (let row = 0; row < count; row++) {
    const key = keys[row]!;
    if (key >= 0) from[key + 1]!++;
  }
  for (let group = 0; group < groups; group++) from[group + 1]! += from[group]!;
  const next = from.slice(0, groups);
  const order = new Uint32Array(from[groups]!);
  for (let row = 0; row < count; row++) {
    const key = keys[row]!;
    if (key >= 0) order[next[key]!++] = row;
  }
  return { order, from };
}

/** Gathers `source[order[from..to)]` into `out`, starting at 0. */
export function gather<T extends Float64Array | Uint32Array | Uint8Array>(
  source: T, order: Uint32Array, from: number, to: number, out: T,
): T {
  for (let at = from; at < to; at++) out[at - from] = source[order[at]!]!;
  return out;
}

/** True where `array` ascends (equal neighbours allowed). */
export function ascending(array: Float64Array): boolean {
  for (let at = 1; at < array.length; at++) if (array[at]! < array[at - 1]!) return false;
  return true;
}

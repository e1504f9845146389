import { signal } from "@preact/signals";
import { ALGORITHMS, parseSize } from "./results.ts";

/** The sweep form: its fields, and the specification that they make. */

export const DTYPES = ["fp32", "fp16", "bf16", "fp8", "int8"] as const;
export const MODES = ["packet", "ideal"] as const;
export const STEP_MODES = ["barrier", "dataflow", "lockstep"] as const;

/** Algorithms of each primitive; `auto` is one of all. */
const OF_PRIMITIVE: Readonly<Record<string, readonly string[]>> = {
  allreduce: ["ring", "halving_doubling", "recursive_doubling", "tree", "double_binary_tree"],
  allgather: ["ring", "halving_doubling", "bruck", "direct"],
  reducescatter: ["ring", "halving_doubling", "pairwise"],
  alltoall: ["pairwise", "bruck", "direct"],
  p2p: ["direct"],
};

/** Most runs of a sweep, the server's limit. */
export const MOST_RUNS = 100_000;
/** Most sizes that a form gives: one factor of two from 1 B to 2^40. */
const MOST_SIZES = 64;

export interface SweepForm {
  readonly experiment: string;
  readonly primitives: readonly string[];
  readonly algorithms: readonly string[];
  /** Names, separated by spaces, commas or lines. */
  readonly topologies: string;
  readonly sizeFrom: string;
  readonly sizeTo: string;
  readonly sizeFactor: string;
  readonly dtype: string;
  readonly mode: string;
  readonly stepMode: string;
  readonly trace: boolean;
  /** JSON object with further fields of the specification; a list is swept. */
  readonly more: string;
}

export const sweepForm = signal<SweepForm>({
  experiment: "default", primitives: ["allreduce"], algorithms: ["ring"],
  topologies: "ring-8, star-8", sizeFrom: "4 KiB", sizeTo: "1 MiB", sizeFactor: "4",
  dtype: "bf16", mode: "packet", stepMode: "barrier", trace: true, more: "",
});

/** Algorithms that all of the primitives have. */
export function algorithmsFor(primitives: readonly string[]): readonly string[] {
  return ALGORITHMS.filter((one) =>
    one === "auto" || primitives.every((name) => OF_PRIMITIVE[name]?.includes(one) ?? false));
}

/** From, from·factor, … up to and including `to`; null where the texts give none. */
export function sizesOf(from: string, to: string, factor: string): readonly number[] | null {
  const first = parseSize(from);
  const last = parseSize(to);
  const step = Number(factor);
  if (first === null || last === null || first < 1 || last < first) return null;
  if (!(step > 1) && last > first) return null;
  const out: number[] = [];
  for (let size = first; size <= last && out.length < MOST_SIZES; size *= step) {
    out.push(Math.round(size));
    if (!(step > 1)) break;
  }
  return out;
}

export function topologiesOf(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((one) => one !== ""))];
}

/** What is wrong with a form: the field, by its word. */
export type FormProblem = "experiment" | "primitive" | "algorithm" | "topology" | "size" | "more";

export type Built =
  | { readonly spec: Readonly<Record<string, unknown>>; readonly runs: number }
  | { readonly problem: FormProblem };

/** Fields that are lists by nature: only a list of lists is swept. */
const LISTS: ReadonlySet<string> = new Set(["disturb"]);

/** Runs that a value stands for: the product over all lists in it. */
function runsIn(value: unknown, name = ""): number {
  if (Array.isArray(value)) {
    const list = value as readonly unknown[];
    if (LISTS.has(name) && !list.every((one) => Array.isArray(one))) return 1;
    return Math.max(1, list.length);
  }
  if (typeof value !== "object" || value === null) return 1;
  return Object.entries(value).reduce((product, [key, one]) =>
    (name === "trace" && key === "categories" && !(Array.isArray(one) && Array.isArray(one[0]))
      ? product : product * runsIn(one, key)), 1);
}

function parseMore(text: string): Readonly<Record<string, unknown>> | null {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    const plain = typeof value === "object" && value !== null && !Array.isArray(value);
    return plain ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

const single = <T>(list: readonly T[]): T | readonly T[] => (list.length === 1 ? list[0]! : list);

export function buildSpec(form: SweepForm): Built {
  const topologies = topologiesOf(form.topologies);
  const sizes = sizesOf(form.sizeFrom, form.sizeTo, form.sizeFactor);
  const allowed = algorithmsFor(form.primitives);
  const algorithms = form.algorithms.filter((one) => allowed.includes(one));
  const more = parseMore(form.more);
  if (form.experiment.trim() === "") return { problem: "experiment" };
  if (form.primitives.length === 0) return { problem: "primitive" };
  if (algorithms.length === 0) return { problem: "algorithm" };
  if (topologies.length === 0) return { problem: "topology" };
  if (sizes === null) return { problem: "size" };
  if (more === null) return { problem: "more" };
  const spec = {
    primitive: single(form.primitives), algorithm: single(algorithms),
    topology: single(topologies), msg_size_bytes: single(sizes), dtype: form.dtype,
    mode: form.mode, step_mode: form.stepMode, trace: { enabled: form.trace }, ...more,
  };
  return { spec, runs: runsIn(spec) };
}

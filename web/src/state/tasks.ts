import { batch, signal } from "@preact/signals";
import { ApiError } from "../wire/types.ts";
import { evaluation } from "../wire/evaluation.ts";
import type { Task, TaskState } from "../wire/evaluation.ts";
import { resultsVersion } from "./results.ts";

/**
 * Sweeps under way. The stream is open before a sweep is sent, so nothing of it is missed; what
 * ended while no stream was open (a lost connection) is asked for once it is open again. Tasks
 * that nobody here sent are gathered by experiment.
 */

export interface Sweep {
  readonly key: string;
  readonly experiment: string | number;
  readonly ids: readonly string[];
  /** When it was sent or first seen, ms of the page's clock. */
  readonly since: number;
}

export interface SweepCounts {
  readonly total: number;
  readonly queued: number;
  readonly running: number;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Runs that ended and the shares of those that run. */
  readonly progress: number;
  /** The first errors, each with how many runs had it. */
  readonly errors: readonly (readonly [string, number])[];
  /** ms from sending to the last end; null while it goes on. */
  readonly took: number | null;
}

interface Known {
  state: TaskState;
  progress: number;
  error: string | null;
}

/** Texts follow at most so often, ms: the server may tell hundreds of ends a second. */
const TELL_MS = 100;
/** Lists and curves are asked for anew at most so often while results come in, ms. */
const LIST_MS = 700;
/** The stream has told all that waits or runs so long after it opened, ms. */
const SETTLE_MS = 700;
const PAGE = 1000;
const MOST_ERRORS = 5;
const CANCELS_AT_ONCE = 4;

const ENDED: ReadonlySet<TaskState> = new Set(["done", "failed", "cancelled"]);

export const sweeps = signal<readonly Sweep[]>([]);
/** Counts up when tasks changed. */
export const tasksVersion = signal(0);

const known = new Map<string, Known>();
const endedAt = new Map<string, number>();
/** What came for tasks of nobody while a sweep is being sent: its answer may name them. */
let held: Task[] = [];
let sending = 0;
let told = new Set<string>();
let telling = 0;
let listing = 0;
let stopStream: (() => void) | null = null;

function tell(): void {
  if (telling !== 0) return;
  telling = window.setTimeout(() => {
    telling = 0;
    tasksVersion.value++;
  }, TELL_MS);
}

function listAnew(): void {
  if (listing !== 0) return;
  listing = window.setTimeout(() => {
    listing = 0;
    resultsVersion.value++;
  }, LIST_MS);
}

function gather(task: Task): void {
  const key = `experiment ${task.experiment_id}`;
  const list = sweeps.peek();
  const mine = list.find((one) => one.key === key);
  if (mine === undefined) {
    const next = { key, experiment: task.experiment_id, ids: [task.id], since: performance.now() };
    sweeps.value = [...list, next];
  } else {
    (mine.ids as string[]).push(task.id);
  }
}

function take(task: Task): void {
  told.add(task.id);
  const old = known.get(task.id);
  if (old === undefined) {
    if (sending > 0) {
      held.push(task);
      return;
    }
    if (ENDED.has(task.state)) {
      listAnew();
      return;
    }
    gather(task);
  }
  known.set(task.id, { state: task.state, progress: task.progress, error: task.error });
  if (ENDED.has(task.state) && !ENDED.has(old?.state ?? "queued")) {
    endedAt.set(task.id, performance.now());
    if (task.state === "done") listAnew();
  }
  tell();
}

/** Asks for what ended unseen: tasks that are open here and that the new stream did not tell. */
async function settle(): Promise<void> {
  const missing = new Set([...known].filter(([id, one]) =>
    !ENDED.has(one.state) && !told.has(id)).map(([id]) => id));
  for (let page = 1; missing.size > 0; page++) {
    const list = await evaluation.tasks(page, PAGE);
    for (const task of list.tasks) if (missing.delete(task.id)) take(task);
    if (list.tasks.length < PAGE) break;
  }
}

export function followTasks(): () => void {
  stopStream ??= evaluation.watch(take, () => {
    told = new Set();
    window.setTimeout(() => void settle().catch(() => undefined), SETTLE_MS);
  });
  return () => {
    // What goes on is followed while other pages are shown.
    if (sweeps.peek().some((one) => countsOf(one).took === null)) return;
    stopStream?.();
    stopStream = null;
  };
}

export async function sendSweep(experiment: string, spec: object): Promise<Sweep> {
  sending++;
  const since = performance.now();
  try {
    const ids = await evaluation.submit(experiment, spec);
    const sweep: Sweep = { key: `sent ${ids[0] ?? since}`, experiment, ids, since };
    for (const id of ids) known.set(id, { state: "queued", progress: 0, error: null });
    batch(() => {
      sweeps.value = [...sweeps.peek(), sweep];
      tasksVersion.value++;
    });
    return sweep;
  } finally {
    sending--;
    if (sending === 0) {
      const waiting = held;
      held = [];
      waiting.forEach(take);
    }
  }
}

export function countsOf(sweep: Sweep): SweepCounts {
  const count: Record<TaskState, number> = {
    queued: 0, running: 0, done: 0, failed: 0, cancelled: 0,
  };
  const errors = new Map<string, number>();
  let progress = 0;
  let last = 0;
  for (const id of sweep.ids) {
    const one = known.get(id);
    if (one === undefined) continue;
    count[one.state]++;
    if (ENDED.has(one.state)) {
      progress++;
      last = Math.max(last, endedAt.get(id) ?? 0);
    } else progress += one.progress;
    if (one.state !== "failed") continue;
    const text = one.error ?? "";
    const before = errors.get(text) ?? 0;
    if (before > 0 || errors.size < MOST_ERRORS) errors.set(text, before + 1);
  }
  const ended = count.queued + count.running === 0;
  return {
    ...count, total: sweep.ids.length, progress, errors: [...errors],
    took: ended ? Math.max(0, last - sweep.since) : null,
  };
}

/** Cancels what has not ended, what waits first, so that nothing new begins meanwhile. */
export async function cancelSweep(sweep: Sweep): Promise<void> {
  const open = sweep.ids.filter((id) => !ENDED.has(known.get(id)?.state ?? "done")).reverse();
  const next = async (): Promise<void> => {
    for (let id = open.shift(); id !== undefined; id = open.shift()) {
      await evaluation.cancel(id).then(take, (problem: unknown) => {
        // It ended while this was on its way.
        if (!(problem instanceof ApiError && problem.status === 409)) throw problem;
      });
    }
  };
  await Promise.all(Array.from({ length: CANCELS_AT_ONCE }, next));
}

export function forgetSweep(sweep: Sweep): void {
  for (const id of sweep.ids) {
    known.delete(id);
    endedAt.delete(id);
  }
  sweeps.value = sweeps.peek().filter((one) => one !== sweep);
}

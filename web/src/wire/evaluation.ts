import { call, post } from "./api.ts";

/** What the server says of results, experiments and tasks, and the calls. Each throws ApiError. */

export interface ChipRow {
  readonly chip_id: number;
  readonly latency_ns: number;
  readonly cdma_blocked_ns: number;
  readonly is_straggler: boolean;
  /** Of the slowest chip where it is a straggler. */
  readonly reason?: string | null;
}

/** A row of the list. Results that were added from outside hold null where nothing was given. */
export interface ResultRow {
  readonly id: number;
  readonly experiment_id: number;
  readonly primitive: string | null;
  readonly algorithm: string | null;
  readonly algorithm_used: string | null;
  readonly msg_size_bytes: number | null;
  readonly num_participants: number | null;
  readonly topology_name: string | null;
  readonly dtype: string | null;
  readonly total_latency_ns: number | null;
  readonly bus_bw_gb_per_s: number | null;
  readonly alg_bw_gb_per_s: number | null;
  readonly ideal_latency_ns: number | null;
  readonly data_done_ns: number | null;
  readonly max_chip_latency_ns: number | null;
  readonly straggler_ratio: number | null;
  readonly total_comm_bytes: number | null;
  readonly algorithm_steps: number | null;
  readonly bottleneck: string | null;
  readonly events: number | null;
  readonly wall_ms: number | null;
  readonly seed: number | null;
  readonly program_version: string | null;
  readonly created_at: string;
  readonly trace_file_path: string | null;
  readonly has_trace: boolean;
  readonly per_chip_summary: readonly ChipRow[] | null;
}

export interface ResultDetails extends ResultRow {
  readonly config_snapshot: Readonly<Record<string, unknown>> | null;
  readonly stats: Readonly<Record<string, number>> | null;
  readonly auto_candidates: Readonly<Record<string, unknown>> | readonly unknown[] | null;
}

export interface ResultList {
  readonly results: readonly ResultRow[];
  readonly total: number;
  readonly page: number;
  readonly page_size: number;
}

export interface Experiment {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly results: number;
}

export type TaskState = "queued" | "running" | "done" | "failed" | "cancelled";

export interface Task {
  readonly id: string;
  readonly experiment_id: number;
  readonly state: TaskState;
  /** Share done, 0..1. */
  readonly progress: number;
  readonly error: string | null;
  readonly result_id: number | null;
}

export interface TaskList {
  readonly tasks: readonly Task[];
  readonly total: number;
}

/** One line a group, one place an x; null where there is no result. */
export interface Comparison {
  readonly x: readonly number[];
  readonly groups: readonly (string | number | null)[];
  readonly y: readonly (readonly (number | null)[])[];
  readonly ids: readonly (readonly (number | null)[])[];
  readonly duplicates: number;
}

const RESULTS = "api/evaluation/comm-results";
const TASKS = "api/evaluation/tasks";

export const evaluation = {
  list(query: URLSearchParams, signal: AbortSignal): Promise<ResultList> {
    return call<ResultList>(`${RESULTS}?${query}`, { signal });
  },

  async result(id: number, signal: AbortSignal): Promise<ResultDetails> {
    const row = await call<ResultDetails>(`${RESULTS}/${id}`, { signal });
    return { ...row, has_trace: row.trace_file_path !== null };
  },

  remove(id: number): Promise<unknown> {
    return call<unknown>(`${RESULTS}/${id}`, { method: "DELETE" });
  },

  async experiments(): Promise<readonly Experiment[]> {
    return (await call<{ experiments: Experiment[] }>("api/evaluation/experiments")).experiments;
  },

  compare(query: URLSearchParams, signal: AbortSignal): Promise<Comparison> {
    return call<Comparison>(`api/evaluation/compare?${query}`, { signal });
  },

  async submit(experiment: string, spec: object): Promise<readonly string[]> {
    return (await post<{ task_ids: string[] }>(TASKS, { experiment, spec })).task_ids;
  },

  tasks(page: number, pageSize: number): Promise<TaskList> {
    return call<TaskList>(`${TASKS}?page=${page}&page_size=${pageSize}`);
  },

  cancel(id: string): Promise<Task> {
    return call<Task>(`${TASKS}/${id}`, { method: "DELETE" });
  },

  /** Where the event records of a result's trace are asked for; the worker has another base. */
  traceUrl(id: number): string {
    return new URL(`${RESULTS}/${id}/trace`, document.baseURI).href;
  },

  /**
   * Every task that is queued or running, then each that changes, newest state only; a task that
   * ended while nobody listened is not told. `opened` is called at every connection. Returns the
   * way to stop.
   */
  watch(changed: (task: Task) => void, opened: () => void): () => void {
    const source = new EventSource(new URL(`${TASKS}/events`, document.baseURI));
    source.onopen = opened;
    source.onmessage = (event: MessageEvent<string>) => {
      try {
        changed(JSON.parse(event.data) as Task);
      } catch {
        // A line we do not understand is not worth stopping for.
      }
    };
    return () => source.close();
  },
};

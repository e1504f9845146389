/** What the server says, field for field; see the contract of the API. */

export type TraceState = "opening" | "ready" | "failed";
export type LaneKind = "group" | "slices" | "interval" | "counter" | "instant";

export interface ApiErrorBody {
  readonly code: string;
  readonly message: string;
  readonly field?: string;
  readonly limit?: number;
  readonly rows?: number;
  readonly suggested_buckets?: number;
  /** Byte in the statement, of `bad_sql`. */
  readonly position?: number;
}

export interface TraceFile {
  readonly path: string;
  readonly format?: string;
  readonly bytes?: number;
  /** Share of the file that is read, 0..1. */
  readonly progress?: number;
}

export interface Loss {
  readonly key?: string;
  readonly name: string;
  readonly severity: string;
  readonly count: number;
  readonly file?: string;
  readonly offset?: number | string | null;
  readonly excerpt?: string | null;
  readonly advice?: string | null;
}

export interface TraceSummary {
  readonly trace_id: number;
  readonly state: TraceState;
  readonly files: readonly TraceFile[];
}

export interface TraceInfo extends TraceSummary {
  readonly error?: ApiErrorBody;
  readonly bounds?: {
    readonly origin_ns: string;
    readonly start_ns: number;
    readonly end_ns: number;
  };
  readonly view?: { readonly start_ns: number; readonly end_ns: number };
  readonly counts?: Readonly<Record<string, number>>;
  readonly losses?: readonly Loss[];
}

export interface LaneRecord {
  /** Track id, null for a group. */
  readonly id: number | null;
  /** Index in the list of lanes, null at the top. */
  readonly parent: number | null;
  readonly kind: LaneKind;
  readonly name: string;
  readonly group?: string | null;
  readonly sort?: number | null;
  readonly rows?: number;
  readonly machine?: string | number | null;
  readonly anomalous?: boolean;
  readonly component?: string;
  readonly category?: string;
  readonly count?: number;
}

/** A flow of a slice: the slice at its other end. */
export interface Flow {
  readonly direction: "in" | "out";
  readonly category?: string | null;
  readonly name?: string | null;
  readonly slice?: number | null;
  readonly track?: number | null;
  readonly row?: number | null;
  readonly slice_name?: string | null;
  readonly ts_ns?: string;
  /** Relative to the origin. */
  readonly start_ns?: number;
  readonly end_ns?: number;
}

export interface SliceDetails {
  readonly id: number;
  readonly name: string;
  readonly category?: string | null;
  readonly track?: number | string;
  readonly ts_ns: string;
  readonly dur_ns?: number | string | null;
  readonly depth?: number;
  readonly row?: number;
  readonly parent?: number | null;
  readonly flags?: unknown;
  readonly args?: unknown;
  readonly pid?: number | string | null;
  readonly tid?: number | string | null;
  readonly process?: string | null;
  readonly thread?: string | null;
  readonly flows?: readonly Flow[];
  /** All of them; `flows` holds the first of each direction. */
  readonly flow_count?: number;
}

/** How the files came onto one timeline; `meridian clocks --json` says the same. */
export interface Clocks {
  readonly trace_time: ClockName | null;
  readonly align: string;
  readonly interpolation: string;
  readonly files: readonly ClockFile[];
  readonly clocks: readonly ClockNode[];
}

export interface ClockName {
  readonly id: number;
  readonly clock: string;
  readonly sequence: number;
  readonly file: string;
  readonly machine_id: number;
  readonly machine: string | null;
}

export interface ClockFile {
  readonly path: string;
  readonly format: string;
  readonly machine_id: number;
  readonly machine: string | null;
  /** Ids of its clocks. */
  readonly clocks: readonly number[];
  readonly assumed: boolean;
  readonly dropped: number;
  readonly shift_ns: number;
  readonly pairs: number;
}

export interface ClockNode extends ClockName {
  readonly facts: number;
  readonly dropped: number;
  readonly reached: boolean;
  readonly assumed: boolean;
  readonly off_by_ns: number | null;
  readonly path: readonly ClockStep[];
}

export interface ClockStep {
  readonly from: number;
  readonly to: number;
  readonly source: string;
  readonly observations: number;
  readonly first_offset_ns: number;
  readonly last_offset_ns: number;
  readonly spread_ns: number;
  readonly drift_ppm: number;
}

export interface Anomaly {
  readonly component: string;
  readonly category: string;
  readonly count: number;
  readonly first_ns: number;
}

export interface OpenInterval {
  readonly component: string;
  readonly category: string;
  readonly since_ns: number;
}

/** The six categories in the order of their codes. */
export const CATEGORIES = [
  "link_busy", "link_idle", "thread_blocked", "thread_unblocked", "ostd_change", "hop_arrive",
] as const;

/** A failed call, with the server's code or one of ours (`network`, `http`). */
export class ApiError extends Error {
  constructor(readonly body: ApiErrorBody, readonly status: number) {
    super(body.message);
    this.name = "ApiError";
  }
}

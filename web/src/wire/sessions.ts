import { call, post } from "./api.ts";

/** What the server says of recorded sessions, and the calls. Each throws ApiError. */

export type SessionState = "recording" | "unsealed" | "completed" | "incomplete";
export const QUALITIES = [
  "ok", "warmup", "missing", "not-foreground", "not-applicable", "counter-reset", "discontinuity",
  "unsupported",
] as const;
export type Quality = (typeof QUALITIES)[number];

export interface SessionIdentity {
  readonly definitions?: string;
  readonly programVersion?: string;
  readonly host?: { readonly name: string; readonly kernel: string; readonly cores: number };
  readonly startClocks?: { readonly realtimeNs: string; readonly monotonicNs: string };
  readonly target?: unknown;
}

export interface SessionSummary {
  readonly session: string;
  /** The folder's name: what the calls below take. */
  readonly name: string;
  readonly state: SessionState;
  readonly reasons: readonly string[];
  readonly identity: SessionIdentity | null;
}

/** Sessions, and what the server says of those that it records itself. */
export interface SessionList {
  readonly sessions: readonly SessionSummary[];
  /** Names of those that run. */
  readonly recordings: readonly string[];
  /** Those that ended with an error, the newest first. */
  readonly failed: readonly FailedRecording[];
}

export interface FailedRecording {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

/** One of pid and host. */
export interface RecordingSpec {
  readonly pid?: number;
  readonly host?: boolean;
  readonly duration_ms?: number;
}

/** A row of the report; a number is null where there is none. */
export interface MetricRow {
  readonly metric: string;
  readonly key: string;
  readonly source: string;
  readonly unit: string;
  readonly kind: string;
  readonly evidence: string;
  readonly readings: number;
  readonly count: number;
  readonly counts: Readonly<Record<Quality, number>>;
  readonly shares: Readonly<Record<Quality, number | null>>;
  readonly coverage: number | null;
  readonly mean: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly last: number | null;
  readonly total: number | null;
}

export interface FramesRow {
  readonly display: string;
  readonly source: string;
  readonly frames: number;
  readonly fps: number | null;
  readonly fpsP1: number | null;
  readonly fpsLow1Percent: number | null;
  readonly jankCount: number;
  readonly bigJankCount: number;
  readonly stutter: number | null;
}

export interface SessionReport {
  readonly definitions: string;
  readonly durationNs: number | null;
  readonly envelopes: number;
  readonly decodeErrors: number;
  readonly samples: number;
  readonly gapCount: number;
  readonly gaps: readonly { readonly gap: string; readonly seq: number }[];
  readonly metrics: readonly MetricRow[];
  readonly frames: readonly FramesRow[];
  readonly launch: {
    readonly phases: readonly {
      readonly phase: string; readonly ns: number | null; readonly quality: Quality;
      readonly seq: number;
    }[];
    readonly sumNs: number | null;
    readonly restNs: number | null;
  };
  readonly sources: readonly {
    readonly source: string; readonly envelopes: number; readonly stopped: boolean;
  }[];
}

/** One stored sample; `value` is null whenever the quality is not ok. */
export interface Sample {
  readonly seq: number;
  readonly timeNs: number;
  readonly value: number | null;
  readonly quality: Quality;
}

export interface RawEvent {
  readonly seq: number;
  readonly type: string;
  readonly text: string | null;
  readonly base64: string;
}

export type LiveEvent =
  | { readonly type: "series"; readonly id: number; readonly metric: string; readonly unit: string;
      readonly source: string; readonly key: string; }
  | { readonly type: "frame"; readonly seq: number; readonly hostNs: string | null;
      readonly events: number; readonly samples: number; readonly decodeErrors: number;
      readonly gaps: number;
      readonly sources: readonly { readonly source: string; readonly envelopes: number;
        readonly state: string; }[];
      readonly values: readonly (readonly [number, number | null, Quality, string])[]; }
  | { readonly type: "end"; readonly state: SessionState }
  | { readonly type: "error"; readonly code: string; readonly message: string };

const ROOT = "api/sessions";
const at = (name: string): string => `${ROOT}/${encodeURIComponent(name)}`;

export const sessions = {
  list(): Promise<SessionList> {
    return call<SessionList>(ROOT);
  },

  /** Resolves once it records. */
  start(spec: RecordingSpec): Promise<{ readonly name: string }> {
    return post<{ name: string }>(ROOT, spec);
  },

  /** Resolves once it is sealed, or goes on being sealed. */
  stop(name: string): Promise<{ readonly state: SessionState }> {
    return post<{ state: SessionState }>(`${at(name)}/stop`, {});
  },

  report(name: string, signal: AbortSignal): Promise<SessionReport> {
    return call<SessionReport>(`${at(name)}/report`, { signal });
  },

  raw(name: string, seq: number, signal: AbortSignal): Promise<RawEvent> {
    return call<RawEvent>(`${at(name)}/raw/${seq}`, { signal });
  },

  /** The Arrow stream of samples, thinned to so many parts. */
  async samples(name: string, buckets: number, signal: AbortSignal): Promise<ArrayBuffer> {
    const response = await fetch(
      new URL(`${at(name)}/samples?buckets=${buckets}`, document.baseURI),
      { signal, headers: { accept: "application/vnd.apache.arrow.stream" } },
    );
    if (!response.ok) await call<unknown>(`${at(name)}/samples?buckets=${buckets}`, { signal });
    return response.arrayBuffer();
  },

  reportUrl(name: string, format: "html" | "md" | "json"): string {
    return new URL(`${at(name)}/report?format=${format}`, document.baseURI).href;
  },

  /** Follows a session that is being recorded. Returns the way to stop. */
  watch(name: string, told: (event: LiveEvent) => void): () => void {
    const source = new EventSource(new URL(`${at(name)}/events`, document.baseURI));
    source.onmessage = (event: MessageEvent<string>) => {
      const one = JSON.parse(event.data) as LiveEvent;
      // The stream is over then; without this the browser would connect again.
      if (one.type === "end" || one.type === "error") source.close();
      told(one);
    };
    return () => source.close();
  },
};

import { signal } from "@preact/signals";
import type {
  FailedRecording, LiveEvent, Sample, SessionReport, SessionSummary,
} from "../wire/sessions.ts";
import type { ApiErrorBody } from "../wire/types.ts";

/** The atoms of the sessions page, and its link. */

export type SessionView = "curves" | "report";

export interface SessionsLink {
  readonly session: string | null;
  /** The one that it is compared with. */
  readonly other: string | null;
  readonly show: SessionView;
  /** Part of a metric's name. */
  readonly filter: string;
}

export const NO_SESSION: SessionsLink = { session: null, other: null, show: "curves", filter: "" };

export function readSessionsLink(hash: string): SessionsLink {
  const from = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    session: from.get("session"), other: from.get("with"),
    show: from.get("show") === "report" ? "report" : "curves", filter: from.get("filter") ?? "",
  };
}

export function writeSessionsLink(link: SessionsLink): string {
  const out = new URLSearchParams();
  if (link.session !== null) out.set("session", link.session);
  if (link.other !== null) out.set("with", link.other);
  if (link.show !== "curves") out.set("show", link.show);
  if (link.filter !== "") out.set("filter", link.filter);
  const rest = out.toString();
  return rest === "" ? "#sessions" : `#sessions&${rest}`;
}

/** One curve's identity in its session. */
export interface Series {
  readonly metric: string;
  readonly key: string;
  readonly source: string;
  readonly unit: string;
}

export interface SeriesSamples extends Series {
  readonly samples: readonly Sample[];
}

/** What is on screen of one session. */
export interface Loaded {
  readonly name: string;
  readonly report: SessionReport;
  readonly series: readonly SeriesSamples[];
  /** The host's monotonic time of its beginning, ns; 0 of the time axis. */
  readonly startNs: number;
  /** Length of one part of the thinning, ns. */
  readonly partNs: number;
}

/** A session that is being recorded, as it was told. */
export interface Live {
  readonly name: string;
  readonly series: readonly SeriesSamples[];
  readonly startNs: number;
  readonly frame: Extract<LiveEvent, { type: "frame" }> | null;
  /** State by series, of the newest frame: live, stale, ended. */
  readonly states: ReadonlyMap<number, string>;
  readonly over: boolean;
}

export const seriesKey = (one: Series): string =>
  JSON.stringify([one.metric, one.key, one.source]);

/** Sources carry the pid; two sessions are compared without it. */
export const comparedKey = (one: Series): string =>
  JSON.stringify([one.metric, one.key, one.source.replace(/\.\d+$/, "")]);

export const sessionsLink = signal<SessionsLink>(NO_SESSION);
export const sessionList = signal<readonly SessionSummary[] | null>(null);
/** Those that the server records itself, and those of them that failed. */
export const recordingsHere = signal<readonly string[]>([]);
export const recordingsFailed = signal<readonly FailedRecording[]>([]);
export const sessionsError = signal<ApiErrorBody | null>(null);
export const loaded = signal<Loaded | null>(null);
export const compared = signal<Loaded | null>(null);
export const loadError = signal<ApiErrorBody | null>(null);
export const live = signal<Live | null>(null);

/** Frames of a live session that are kept on screen: an hour of one a second. */
export const LIVE_FRAMES = 3600;

/** What is on screen after another event. */
export function takeLive(now: Live, event: LiveEvent): Live {
  if (event.type === "series") {
    const { metric, key, source, unit } = event;
    const series = [...now.series];
    series[event.id] = { metric, key, source, unit, samples: [] };
    return { ...now, series };
  }
  if (event.type !== "frame") return { ...now, over: true };
  if (event.hostNs === null) return { ...now, frame: event };
  const timeNs = Number(event.hostNs);
  const series = [...now.series];
  const states = new Map<number, string>();
  for (const [id, value, quality, state] of event.values) {
    states.set(id, state);
    const one = series[id];
    if (one === undefined) continue;
    const sample: Sample = { seq: event.seq, timeNs, value, quality };
    series[id] = { ...one, samples: [...one.samples, sample].slice(-LIVE_FRAMES) };
  }
  const startNs = now.startNs === 0 ? timeNs : now.startNs;
  return { ...now, series, states, startNs, frame: event };
}

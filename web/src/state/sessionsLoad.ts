import { batch, computed, effect } from "@preact/signals";
import { tableFromIPC } from "apache-arrow";
import type { Table } from "apache-arrow";
import { sessions } from "../wire/sessions.ts";
import type { Quality, RecordingSpec, Sample, SessionReport } from "../wire/sessions.ts";
import { goToPage, keepPageLink, page } from "./page.ts";
import { errorBody, isAborted } from "./resultsLoad.ts";
import {
  compared, live, loadError, loaded, recordingsFailed, recordingsHere, sessionList, sessionsError,
  sessionsLink, takeLive, writeSessionsLink,
} from "./sessions.ts";
import type { Loaded, SeriesSamples, SessionsLink } from "./sessions.ts";

/** What the sessions page asks for, and every change of its link. */

/** Parts of the thinning: about two pixels each. */
const BUCKETS = 600;
const LIST_MS = 3000;

export function changeSessionsLink(change: Partial<SessionsLink>, step = false): void {
  const next = { ...sessionsLink.peek(), ...change };
  const link = writeSessionsLink(next);
  keepPageLink("sessions", link);
  sessionsLink.value = next;
  if (page.peek() !== "sessions" || step) goToPage("sessions", link);
  else history.replaceState(null, "", link);
}

function textsOf(table: Table, name: string): string[] {
  const column = table.getChild(name);
  if (column === null) throw new Error(`the answer has no column "${name}"`);
  return Array.from(column, (value: unknown) => String(value ?? ""));
}

function numbersOf(table: Table, name: string): (number | null)[] {
  const column = table.getChild(name);
  if (column === null) throw new Error(`the answer has no column "${name}"`);
  return Array.from(column, (value: unknown) =>
    (value === null || value === undefined ? null : Number(value)));
}

/** Curves of an answer, in the order of their first sample; samples without a time are left out. */
export function curvesOf(bytes: ArrayBuffer): SeriesSamples[] {
  const table = tableFromIPC(new Uint8Array(bytes));
  const metric = textsOf(table, "metric");
  const key = textsOf(table, "key");
  const source = textsOf(table, "source");
  const unit = textsOf(table, "unit");
  const quality = textsOf(table, "quality");
  const seq = numbersOf(table, "seq");
  const value = numbersOf(table, "value");
  const time = numbersOf(table, "time_ns");
  const known = new Map<string, { of: Omit<SeriesSamples, "samples">; samples: Sample[] }>();
  for (let row = 0; row < table.numRows; row++) {
    const of = { metric: metric[row]!, key: key[row]!, source: source[row]!, unit: unit[row]! };
    const id = JSON.stringify(of);
    let one = known.get(id);
    if (one === undefined) known.set(id, one = { of, samples: [] });
    const timeNs = time[row];
    if (timeNs === null || timeNs === undefined) continue;
    one.samples.push({
      seq: seq[row]!, timeNs, value: value[row] ?? null, quality: quality[row] as Quality,
    });
  }
  return [...known.values()].map(({ of, samples }) => ({ ...of, samples }));
}

async function load(name: string, signal: AbortSignal): Promise<Loaded> {
  const [report, bytes] = await Promise.all([
    sessions.report(name, signal), sessions.samples(name, BUCKETS, signal),
  ]);
  const series = curvesOf(bytes);
  let startNs = Infinity;
  for (const one of series) startNs = Math.min(startNs, one.samples[0]?.timeNs ?? Infinity);
  const length = (report as SessionReport).durationNs ?? 0;
  return {
    name, report, series, startNs: Number.isFinite(startNs) ? startNs : 0,
    partNs: length / BUCKETS,
  };
}

const shownName = computed(() => sessionsLink.value.session);
const otherName = computed(() => sessionsLink.value.other);
const shownState = computed(() =>
  sessionList.value?.find((one) => one.name === shownName.value)?.state ?? null);

/** Keeps `into` what `name` says. */
function follow(name: { readonly value: string | null }, into: typeof loaded): () => void {
  let asked = new AbortController();
  return effect(() => {
    const wanted = name.value;
    // A session that was sealed meanwhile is read once more, whole.
    void shownState.value;
    asked.abort();
    const mine = asked = new AbortController();
    if (wanted === null) {
      into.value = null;
      return;
    }
    load(wanted, mine.signal).then((got) => {
      batch(() => {
        into.value = got;
        loadError.value = null;
      });
    }).catch((problem: unknown) => {
      if (!isAborted(problem)) loadError.value = errorBody(problem);
    });
  });
}

async function readList(): Promise<void> {
  try {
    const list = await sessions.list();
    batch(() => {
      sessionList.value = list.sessions;
      recordingsHere.value = list.recordings;
      recordingsFailed.value = list.failed;
      sessionsError.value = null;
    });
  } catch (problem) {
    sessionsError.value = errorBody(problem);
  }
}

/** Starts one and shows it. */
export async function startRecording(spec: RecordingSpec): Promise<void> {
  const { name } = await sessions.start(spec);
  await readList();
  changeSessionsLink({ session: name, other: null }, true);
}

export async function stopRecording(name: string): Promise<void> {
  try {
    await sessions.stop(name);
  } finally {
    await readList();
  }
}

function followLive(): () => void {
  let stop: (() => void) | null = null;
  const end = effect(() => {
    const name = shownName.value;
    const running = shownState.value === "recording";
    stop?.();
    stop = null;
    live.value = null;
    if (name === null || !running) return;
    live.value = {
      name, series: [], startNs: 0, frame: null, states: new Map(), over: false,
    };
    stop = sessions.watch(name, (event) => {
      const now = live.peek();
      if (now === null || now.name !== name) return;
      live.value = takeLive(now, event);
      if (event.type === "end") void readList();
    });
  });
  return () => {
    end();
    stop?.();
  };
}

/** Keeps list, session and live view in step with the link. Returns the way to stop. */
export function followSessions(): () => void {
  void readList();
  const timer = window.setInterval(() => void readList(), LIST_MS);
  const stops = [follow(shownName, loaded), follow(otherName, compared), followLive()];
  return () => {
    window.clearInterval(timer);
    for (const stop of stops) stop();
  };
}

export { readList };

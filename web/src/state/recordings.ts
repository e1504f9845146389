import type { RecordingSpec } from "../wire/sessions.ts";
import type { Word } from "./words.ts";

/** The form of a new recording as text fields, and what is asked of the server. */

export interface RecordingForm {
  readonly what: "host" | "pid";
  readonly pid: string;
  /** Empty: until it is stopped. */
  readonly minutes: string;
}

export const NO_RECORDING: RecordingForm = { what: "host", pid: "", minutes: "" };

/** The longest recording that a server runs. */
export const DAY_MINUTES = 1440;
const PID_MAX = 2 ** 31 - 1;
const SECOND_MS = 1000;

/** What is asked, or the word that says which field is wrong. */
export function recordingOf(form: RecordingForm):
{ readonly spec: RecordingSpec } | { readonly wrong: Word } {
  const minutes = form.minutes.trim();
  let spec: RecordingSpec = { host: true };
  if (form.what === "pid") {
    const pid = form.pid.trim();
    if (!/^[1-9][0-9]{0,9}$/.test(pid) || Number(pid) > PID_MAX) return { wrong: "session.badPid" };
    spec = { pid: Number(pid) };
  }
  if (minutes === "") return { spec };
  const ms = Math.round(Number(minutes) * 60 * SECOND_MS);
  if (!/^[0-9]+(\.[0-9]+)?$/.test(minutes) || ms < SECOND_MS || ms > DAY_MINUTES * 60 * SECOND_MS) {
    return { wrong: "session.badMinutes" };
  }
  return { spec: { ...spec, duration_ms: ms } };
}

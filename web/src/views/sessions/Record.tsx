import { useState } from "preact/hooks";
import { DAY_MINUTES, NO_RECORDING, recordingOf } from "../../state/recordings.ts";
import type { RecordingForm } from "../../state/recordings.ts";
import { recordingsFailed, recordingsHere } from "../../state/sessions.ts";
import { startRecording, stopRecording } from "../../state/sessionsLoad.ts";
import { t } from "../../state/words.ts";
import { errorBody } from "../../state/resultsLoad.ts";

/** Recordings of the server itself: the form that starts one, the button that stops one. */

function Fields({ form, set }: { form: RecordingForm; set: (of: Partial<RecordingForm>) => void }) {
  return (
    <>
      <label class="field">
        {t("session.what")}
        <select id="record-what" value={form.what}
          onChange={(event) => set({ what: event.currentTarget.value === "pid" ? "pid" : "host" })}>
          <option value="host">{t("session.whatHost")}</option>
          <option value="pid">{t("session.whatPid")}</option>
        </select>
      </label>
      {form.what === "pid" && (
        <label class="field">
          {t("session.pid")}
          <input id="record-pid" type="text" inputMode="numeric" autocomplete="off"
            value={form.pid} onInput={(event) => set({ pid: event.currentTarget.value })} />
        </label>
      )}
      <label class="field">
        {t("session.minutes")}
        <input id="record-minutes" type="text" inputMode="decimal" autocomplete="off"
          placeholder={t("session.minutesHint", { max: String(DAY_MINUTES) })} value={form.minutes}
          onInput={(event) => set({ minutes: event.currentTarget.value })} />
      </label>
    </>
  );
}

export function Record() {
  const [form, setForm] = useState<RecordingForm>(NO_RECORDING);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const failed = recordingsFailed.value[0];
  const submit = (event: Event): void => {
    event.preventDefault();
    const asked = recordingOf(form);
    setError("wrong" in asked ? t(asked.wrong) : "");
    if ("wrong" in asked) return;
    setBusy(true);
    startRecording(asked.spec)
      .catch((problem: unknown) => setError(errorBody(problem).message))
      .finally(() => setBusy(false));
  };
  return (
    <details class="record">
      <summary>{t("session.record")}</summary>
      <form onSubmit={submit}>
        <Fields form={form} set={(change) => setForm({ ...form, ...change })} />
        {error !== "" && <p class="error" role="alert">{error}</p>}
        <button class="btn primary" id="record-start" type="submit" disabled={busy}>
          {t("session.start")}
        </button>
        <p class="dim">{t("session.recordNote")}</p>
      </form>
      {failed !== undefined && (
        <p class="error" role="status">
          {t("session.recordFailed", { name: failed.name, message: failed.message })}
        </p>
      )}
    </details>
  );
}

export function Stop({ name }: { name: string }) {
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  if (!recordingsHere.value.includes(name)) {
    return error === "" ? null : <span class="error" role="alert">{error}</span>;
  }
  const stop = (): void => {
    setBusy(true);
    setError("");
    stopRecording(name)
      .catch((problem: unknown) => setError(errorBody(problem).message))
      .finally(() => setBusy(false));
  };
  return (
    <>
      <button class="btn" id="record-stop" disabled={busy} onClick={stop}>
        {t("session.stop")}
      </button>
      {error !== "" && <span class="error" role="alert">{error}</span>}
    </>
  );
}

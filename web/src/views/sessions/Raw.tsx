import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { errorBody, isAborted } from "../../state/resultsLoad.ts";
import { t } from "../../state/words.ts";
import { sessions } from "../../wire/sessions.ts";
import type { RawEvent } from "../../wire/sessions.ts";
import { value } from "./text.ts";

/** The raw event that a point of a curve rests on, as it came. */

export interface Picked {
  readonly seq: number;
  readonly name: string;
  readonly value: number | null;
}

export function Raw({ session, picked, close }: {
  session: string; picked: Picked; close: () => void;
}) {
  const got = useSignal<RawEvent | null>(null);
  const failed = useSignal("");
  useEffect(() => {
    const asked = new AbortController();
    got.value = null;
    failed.value = "";
    sessions.raw(session, picked.seq, asked.signal).then(
      (raw) => (got.value = raw),
      (problem: unknown) => {
        if (!isAborted(problem)) failed.value = errorBody(problem).message;
      },
    );
    return () => asked.abort();
  }, [session, picked.seq]);
  const raw = got.value;
  return (
    <div class="raw-event" role="region" aria-label={t("session.raw")}>
      <b>{t("session.rawOf", { name: picked.name, value: value(picked.value), seq: picked.seq })}</b>
      <button class="flat" aria-label={t("help.close")} onClick={close}>✕</button>
      {failed.value !== "" && <p class="error" role="alert">{failed.value}</p>}
      {raw !== null && <pre>{raw.text ?? raw.base64}</pre>}
    </div>
  );
}

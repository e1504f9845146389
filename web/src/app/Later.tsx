import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { t } from "../state/words.ts";

/** A part of the page in a file of its own, fetched when it is first shown. */

export function Later<Part>({ load, view }: {
  load: () => Promise<Part>; view: (part: Part) => ComponentChildren;
}) {
  const state = useMemo(() => signal<{ part: Part } | { failed: string } | null>(null), [load]);
  const fetchPart = (): void => {
    state.value = null;
    load().then(
      (part) => (state.value = { part }),
      (problem: unknown) => (state.value = { failed: String(problem) }),
    );
  };
  useEffect(fetchPart, [load]);
  const now = state.value;
  if (now === null) return <div class="page" aria-busy="true" />;
  if ("part" in now) return <>{view(now.part)}</>;
  return (
    <div class="page">
      <div class="state" role="alert">
        <h2>{t("state.unreachable")}</h2>
        <p class="message">{now.failed}</p>
        <button class="btn primary" onClick={fetchPart}>{t("state.retry")}</button>
      </div>
    </div>
  );
}

import { useEffect, useRef } from "preact/hooks";
import { formatBytes, formatShare } from "../base/num.ts";
import { formatDuration } from "../base/time.ts";
import { pageError, panel, trace, tree } from "../state/store.ts";
import { t } from "../state/words.ts";
import type { TraceFile, TraceInfo } from "../wire/types.ts";

/** What stands in place of the lanes: opening, empty, failed. */

interface Pace {
  readonly since: number;
  readonly from: number;
}

function FileProgress({ file }: { file: TraceFile }) {
  const pace = useRef<Pace | null>(null);
  const share = Math.max(0, Math.min(1, file.progress ?? 0));
  const bytes = file.bytes ?? 0;
  const now = performance.now();
  useEffect(() => {
    if (pace.current === null) pace.current = { since: now, from: share };
  }, []);
  const began = pace.current;
  const seconds = began === null ? 0 : (now - began.since) / 1000;
  const done = began === null ? 0 : share - began.from;
  const rate = seconds > 0.3 && done > 0 ? (done * bytes) / seconds : 0;
  const left = rate > 0 ? ((1 - share) * bytes) / rate : 0;
  return (
    <li>
      <span class="path">{file.path}</span>
      <progress max={1} value={share} />
      <span class="dim">
        {bytes > 0
          ? t("state.progress", { done: formatBytes(share * bytes), all: formatBytes(bytes) })
          : formatShare(share)}
        {rate > 0 && share < 1 && (
          <> · {t("state.rate", { rate: formatBytes(rate), left: formatDuration(left * 1e9, 2) })}</>
        )}
      </span>
    </li>
  );
}

function Opening({ info }: { info: TraceInfo }) {
  return (
    <div class="state" role="status">
      <h2>{t("state.opening")}</h2>
      <ul class="files">{info.files.map((file) => <FileProgress key={file.path} file={file} />)}</ul>
      <p class="dim">{t("state.openingNote")}</p>
    </div>
  );
}

export function StateOverlay({ retry }: { retry: () => void }) {
  const failed = pageError.value;
  const info = trace.value;
  if (failed !== null) {
    const network = failed.code === "network";
    return (
      <div class="state" role="alert">
        <h2>{network ? t("state.unreachable") : t("state.failed")}</h2>
        <p class="message">{failed.message}</p>
        {network && <p class="dim">{t("state.unreachableNote")}</p>}
        <button class="btn primary" onClick={retry}>{t("state.retry")}</button>
      </div>
    );
  }
  if (info === null) {
    return (
      <div class="state">
        <h2>{t("state.empty")}</h2>
        <p class="dim">{t("state.emptyNote")}</p>
        <button class="btn primary" onClick={() => (panel.value = "open")}>{t("head.open")}</button>
      </div>
    );
  }
  if (info.state === "opening") return <Opening info={info} />;
  if (info.state === "failed") {
    return (
      <div class="state" role="alert">
        <h2>{t("state.failed")}</h2>
        <p class="message">{info.error?.message ?? ""}</p>
        <button class="btn primary" onClick={() => (panel.value = "open")}>{t("head.open")}</button>
      </div>
    );
  }
  if (tree.value.leaves > 0) return null;
  return (
    <div class="state">
      <h2>{t("state.noLanes")}</h2>
      <p class="dim">{t("state.noLanesNote")}</p>
    </div>
  );
}

import { formatCount } from "../base/num.ts";
import { formatDuration, formatTime } from "../base/time.ts";
import { changeSettings } from "../state/actions.ts";
import {
  calmView, canvasSize, clocks, cursor, mode, panel, settings, status, tab, timeZero, trace, tree,
} from "../state/store.ts";
import { t, tn } from "../state/words.ts";

function Mode() {
  const now = status.value;
  const text = mode.value === "raw" ? t("status.raw")
    : t("status.aggregated", { n: formatCount(now.columns) });
  return <span class="chip" id="mode" data-mode={mode.value} title={t("status.modeHint")}>{text}</span>;
}

function LossBadge() {
  const losses = trace.value?.losses ?? [];
  if (losses.length === 0) return null;
  const open = (): void => {
    tab.value = "losses";
    if (!settings.peek().paneOpen) changeSettings({ paneOpen: true });
  };
  return <button class="warn" id="losses" onClick={open}>{tn("status.losses", losses.length)}</button>;
}

/** Said wherever times rest on an assumption; leads to what was assumed. */
function AssumedBadge() {
  if (!(clocks.value?.files.some((file) => file.assumed) ?? false)) return null;
  return (
    <button class="warn" id="assumed" onClick={() => (panel.value = "clocks")}>
      {t("clocks.badge")}
    </button>
  );
}

function Cursor() {
  const at = cursor.value;
  // Not finer than what a pixel can mean.
  const fractional = calmView.value.span / canvasSize.value.width < 1;
  const time = at === null ? "" : formatTime(at - timeZero.value, fractional);
  return <span id="cursor">{at === null ? "" : t("status.cursor", { time })}</span>;
}

export function StatusLine() {
  const info = trace.value;
  const ready = info !== null && info.state === "ready" && tree.value.leaves > 0;
  const now = status.value;
  const files = info?.files ?? [];
  const formats = [...new Set(files.map((file) => file.format ?? "").filter((one) => one !== ""))];
  return (
    <footer aria-label={t("status.label")}>
      {ready && <Mode />}
      {ready && <span id="events">{tn("status.events", now.events)}</span>}
      {ready && now.ms > 0 && (
        <span class="answer">
          {now.busy ? t("status.loading") : t("status.answer", { ms: formatDuration(now.ms * 1e6, 3) })}
        </span>
      )}
      <LossBadge />
      <AssumedBadge />
      <span class="grow" />
      <Cursor />
      {files.length > 0 && <span>{[tn("tree.files", files.length), ...formats].join(" · ")}</span>}
    </footer>
  );
}

import { formatSpan } from "../base/time.ts";
import { resetView, showAll } from "../state/actions.ts";
import { bounds, calmView, clocks, farSeen, limits, panel, trace } from "../state/store.ts";
import { t } from "../state/words.ts";
import type { OpenHow } from "../wire/api.ts";

/** Says that not everything is in the first window, and what to do about it. */

/** Told from so many lengths of the populated range on: less can be seen and scrolled to. */
const FAR_TIMES = 10;

export function FarNotice({ reopen }: { reopen: (how: OpenHow) => Promise<void> }) {
  const info = trace.value;
  if (info === null || info.state !== "ready" || farSeen.value === info.trace_id) return null;
  const home = bounds.value;
  const all = limits.value;
  const far = Math.max(home.start - all.start, all.end - home.end);
  if (far <= FAR_TIMES * (home.end - home.start)) return null;
  const files = clocks.value?.files ?? [];
  const several = files.length > 1;
  const wide = calmView.value.span > FAR_TIMES * (home.end - home.start);
  const apart = formatSpan(far);
  return (
    <div class="notice" id="far" role="status">
      <span>{t(several ? "far.files" : "far.events", { far: apart })}</span>
      {several && clocks.value?.align !== "start" && (
        <button class="btn primary" onClick={() => void reopen({ align: "start" })}>
          {t("far.align")}
        </button>
      )}
      {several && (
        <button class="btn" onClick={() => (panel.value = "clocks")}>{t("far.clocks")}</button>
      )}
      <button class="btn" onClick={wide ? resetView : showAll}>
        {t(wide ? "far.fullest" : "far.all")}
      </button>
      <span class="grow" />
      <button class="flat" aria-label={t("help.close")}
        onClick={() => (farSeen.value = info.trace_id)}>✕</button>
    </div>
  );
}

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { px } from "../../base/css.ts";
import { clamp } from "../../base/num.ts";
import { changeSettings } from "../../state/actions.ts";
import { results, resultsError, resultsLink, resultsVersion } from "../../state/results.ts";
import { followResults } from "../../state/resultsLoad.ts";
import { panel, settings } from "../../state/store.ts";
import { followTasks } from "../../state/tasks.ts";
import { t, tn } from "../../state/words.ts";
import type { DecoderClient } from "../../tracks/client.ts";
import { Splitter } from "../../widgets/Splitter.tsx";
import { Filters } from "./Filters.tsx";
import { ResultDetail } from "./ResultDetail.tsx";
import { Picture } from "./Picture.tsx";
import { Progress } from "./Progress.tsx";
import { Pager, ResultTable } from "./ResultTable.tsx";
import { SweepPanel } from "./SweepPanel.tsx";
import { errorText } from "./text.ts";
import "./results.css";

/** The results page: list, picture beside it, the shown result below. */

const DETAIL_MIN = 140;
const MAIN_MIN = 160;
const LIST_MIN = 300;
const PICTURE_MIN = 280;
/** Up to this width list and picture stand one over the other, px. */
const NARROW = 900;

export interface ResultsPageProps {
  readonly client: DecoderClient;
  readonly width: number;
  /** Without header and status line, px. */
  readonly height: number;
  readonly panels: ComponentChildren;
  readonly openTrace: (id: number) => Promise<void>;
}

/** What stands in place of the list. */
function ListState() {
  const error = resultsError.value;
  const list = results.value;
  if (error !== null) {
    return (
      <div class="list-state" role="alert">
        <h2>{error.code === "no_store" ? t("results.noStore") : t("results.failed")}</h2>
        <p class="message">{errorText(error)}</p>
        {error.code !== "no_store" && (
          <button class="btn primary" onClick={() => resultsVersion.value++}>
            {t("state.retry")}
          </button>
        )}
      </div>
    );
  }
  if (list === null || list.total > 0) return null;
  return (
    <div class="list-state">
      <h2>{t("results.empty")}</h2>
      <p class="dim">{t("results.emptyNote")}</p>
      <button class="btn primary" onClick={() => (panel.value = "sweep")}>{t("sweep.title")}</button>
    </div>
  );
}

function StatusLine() {
  const list = results.value;
  return (
    <footer aria-label={t("status.label")}>
      {list !== null && <span>{tn("results.total", list.total)}</span>}
      <span class="grow" />
    </footer>
  );
}

/** List and picture beside each other, or one over the other where there is no room. */
function Halves({ width, openTrace }: {
  width: number; openTrace: (id: number) => Promise<void>;
}) {
  const beside = width > NARROW;
  const max = Math.max(LIST_MIN, width - PICTURE_MIN);
  const list = clamp(Math.round(settings.value.listShare * width), LIST_MIN, max);
  const setList = (size: number): void => changeSettings({ listShare: size / width });
  return (
    <div class="halves" style={beside ? { gridTemplateColumns: `${list}px minmax(0, 1fr)` }
      : { gridTemplateRows: "minmax(0, 1fr) minmax(0, 1fr)" }}>
      <section class="list" aria-label={t("nav.results")}>
        <Filters />
        <Progress />
        <div class="list-body">
          <ResultTable openTrace={openTrace} />
          <ListState />
        </div>
        <Pager />
      </section>
      {beside && (
        <div class="at-tree" style={{ left: px(list) }}>
          <Splitter axis="x" way={1} label={t("results.resize")} size={list} min={LIST_MIN}
            max={max} onSize={setList} onDone={setList} />
        </div>
      )}
      <Picture />
    </div>
  );
}

export function ResultsPage({ client, width, height, panels, openTrace }: ResultsPageProps) {
  useEffect(followResults, []);
  // Without a store there is no stream to open.
  const hasStore = results.value !== null;
  useEffect(() => (hasStore ? followTasks() : undefined), [hasStore]);
  const shown = resultsLink.value.result !== null;
  const most = Math.max(DETAIL_MIN, height - MAIN_MIN);
  const detail = shown
    ? clamp(Math.round(settings.value.detailShare * height), DETAIL_MIN, most) : 0;
  const setDetail = (size: number): void => changeSettings({ detailShare: size / height });
  return (
    <div class="page results" style={{ gridTemplateRows: `minmax(0, 1fr) ${detail}px 24px` }}>
      <main>
        <Halves width={width} openTrace={openTrace} />
      </main>
      {shown
        ? (
          <div class="pane-box">
            <Splitter axis="y" way={-1} label={t("pane.resize")} size={detail} min={DETAIL_MIN}
              max={most} onSize={setDetail} onDone={setDetail} />
            <ResultDetail client={client} openTrace={openTrace} />
          </div>
        )
        : <div />}
      <StatusLine />
      {/* Over list and details: the form needs the height. */}
      {panel.value === "sweep" ? <SweepPanel /> : panels}
    </div>
  );
}

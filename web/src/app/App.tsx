import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { px } from "../base/css.ts";
import { clamp } from "../base/num.ts";
import { changeSettings } from "../state/actions.ts";
import { page } from "../state/page.ts";
import { settings, trace } from "../state/store.ts";
import { language, t } from "../state/words.ts";
import type { DecoderClient } from "../tracks/client.ts";
import type { Feed } from "../tracks/feed.ts";
import { CanvasArea } from "../views/Canvas.tsx";
import { DataPane } from "../views/DataPane.tsx";
import { FarNotice } from "../views/FarNotice.tsx";
import { Header } from "../views/Header.tsx";
import { LaneTreeView } from "../views/LaneTree.tsx";
import { Panels } from "../views/Panels.tsx";
import { StateOverlay } from "../views/States.tsx";
import { StatusLine } from "../views/StatusLine.tsx";
import type { Stage } from "../views/stage.ts";
import { Splitter } from "../widgets/Splitter.tsx";
import { Later } from "./Later.tsx";
import type { Session } from "./session.ts";

/** Pages besides the timeline come when they are first shown. */
const loadResultsPage = () =>
  import("../views/results/ResultsPage.tsx").then((part) => part.ResultsPage);
const loadSessionsPage = () =>
  import("../views/sessions/SessionsPage.tsx").then((part) => part.SessionsPage);

/** Header and status line, px: what the panes cannot have. */
const CHROME = 64;
const TREE_MIN = 140;
const CANVAS_MIN = 240;
const PANE_MIN = 96;
const MAIN_MIN = 160;

/** Theme and language on the root element, where CSS and screen readers look. */
export function followSettings(): void {
  effect(() => {
    const { theme } = settings.value;
    const root = document.documentElement;
    if (theme === "system") delete root.dataset["theme"];
    else root.dataset["theme"] = theme;
  });
  effect(() => {
    document.documentElement.lang = language.value === "zh" ? "zh-CN" : "en";
  });
  effect(() => {
    const open = trace.value?.state === "ready" ? trace.value.files[0]?.path : undefined;
    const title = page.value !== "timeline" ? t(`nav.${page.value}`) : open?.split("/").at(-1);
    document.title = title === undefined ? "Meridian" : `${title} · Meridian`;
  });
}

function useWindowSize() {
  const size = useSignal({ width: innerWidth, height: innerHeight });
  useEffect(() => {
    const changed = (): void => {
      size.value = { width: innerWidth, height: innerHeight };
    };
    addEventListener("resize", changed);
    return () => removeEventListener("resize", changed);
  }, []);
  return size.value;
}

export function App({ feed, client, session, onStage }: {
  feed: Feed; client: DecoderClient; session: Session; onStage: (stage: Stage) => void;
}) {
  const { width, height } = useWindowSize();
  const { paneShare, paneOpen, treeWidth } = settings.value;
  const shown = page.value === "timeline";
  const rest = height - CHROME;
  const paneMax = Math.max(PANE_MIN, rest - MAIN_MIN);
  const pane = paneOpen ? clamp(Math.round(paneShare * height), PANE_MIN, paneMax) : 0;
  const treeMax = Math.max(TREE_MIN, width - CANVAS_MIN);
  const tree = clamp(treeWidth, TREE_MIN, treeMax);
  const setPane = (size: number): void => changeSettings({ paneShare: size / height });
  const setTree = (size: number): void => changeSettings({ treeWidth: size });
  return (
    <div id="frame">
      <Header />
      {/* Stays as it is behind the other pages; stage, keys and link rest meanwhile. */}
      <div class="page" hidden={!shown} style={{ gridTemplateRows: `auto 1fr ${pane}px 24px` }}>
        <div><FarNotice reopen={(how) => session.reopen([], how)} /></div>
        <main style={{ gridTemplateColumns: `${tree}px 1fr` }}>
          <LaneTreeView feed={feed} />
          <CanvasArea feed={feed} onStage={onStage} />
          <div class="at-tree" style={{ left: px(tree) }}>
            <Splitter axis="x" way={1} label={t("tree.resize")} size={tree} min={TREE_MIN}
              max={treeMax} onSize={setTree} onDone={setTree} />
          </div>
          <StateOverlay retry={() => void session.connect()} />
          {shown && <Panels actions={session} />}
        </main>
        {paneOpen
          ? (
            <div class="pane-box">
              <Splitter axis="y" way={-1} label={t("pane.resize")} size={pane} min={PANE_MIN}
                max={paneMax} onSize={setPane} onDone={setPane} />
              <DataPane client={client} />
            </div>
          )
          : <div />}
        <StatusLine />
      </div>
      {page.value === "sessions" && (
        <Later load={loadSessionsPage}
          view={(Part) => <Part panels={<Panels actions={session} />} />} />
      )}
      {page.value === "results" && (
        <Later load={loadResultsPage} view={(Part) => (
          <Part client={client} width={width} height={height - CHROME}
            openTrace={(id) => session.openResult(id)}
            panels={<Panels actions={session} />} />
        )} />
      )}
    </div>
  );
}

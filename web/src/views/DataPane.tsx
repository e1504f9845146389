import { formatDuration } from "../base/time.ts";
import { selection, tab, trace } from "../state/store.ts";
import type { Tab } from "../state/store.ts";
import { t, tn } from "../state/words.ts";
import type { Word } from "../state/words.ts";
import type { DecoderClient } from "../tracks/client.ts";
import { rangeState } from "../tracks/rangeQuery.ts";
import { Detail } from "./Detail.tsx";
import { FindPane } from "./FindPane.tsx";
import { Losses } from "./Losses.tsx";
import { RangeList } from "./RangeList.tsx";
import { SqlPane } from "./SqlPane.tsx";

const TABS: readonly Tab[] = ["detail", "list", "find", "sql", "losses"];

function Summary() {
  const range = selection.value;
  if (range === null) return <span class="dim">{t("pane.selectionIdle")}</span>;
  const span = formatDuration(range.end - range.start);
  const now = rangeState.value;
  if (now.state !== "ready") return <span class="dim">{span}</span>;
  return (
    <span class="dim" id="selection-summary">
      {t("pane.selection", {
        span, count: tn("pane.events", now.stats.events), lanes: tn("tree.lanes", now.stats.lanes),
      })}
    </span>
  );
}

function Body({ now, client }: { now: Tab; client: DecoderClient }) {
  switch (now) {
    case "detail": return <Detail />;
    case "list": return <RangeList />;
    case "find": return <FindPane client={client} />;
    case "sql": return <SqlPane client={client} />;
    case "losses": return <Losses />;
  }
}

export function DataPane({ client }: { client: DecoderClient }) {
  const now = tab.value;
  const losses = trace.value?.losses?.length ?? 0;
  const keys = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(now) + step + TABS.length) % TABS.length]!;
    tab.value = next;
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <section class="pane" aria-label={t("pane.label")}>
      <div class="tabs">
        <div role="tablist" data-keys onKeyDown={keys}>
          {TABS.map((one) => (
            <button
              key={one} id={`tab-${one}`} role="tab" aria-selected={now === one}
              tabIndex={now === one ? 0 : -1} class={now === one ? "on" : ""}
              onClick={() => (tab.value = one)}
            >
              {t(`pane.${one}` as Word)}
              {one === "losses" && losses > 0 && <i class="badge">{losses}</i>}
            </button>
          ))}
        </div>
        <span class="grow" />
        <Summary />
      </div>
      <div class="body" role="tabpanel" aria-labelledby={`tab-${now}`}>
        <Body now={now} client={client} />
      </div>
    </section>
  );
}

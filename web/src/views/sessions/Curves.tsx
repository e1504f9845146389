import { useMemo } from "preact/hooks";
import { formatShort } from "../../base/num.ts";
import { useSignal } from "@preact/signals";
import { FRESH_NS, freshness, joinCurves, sessionCurve } from "../../state/sessionCurve.ts";
import type { SessionCurve } from "../../state/sessionCurve.ts";
import {
  comparedKey, compared, live, loaded, seriesKey, sessionsLink,
} from "../../state/sessions.ts";
import type { Loaded, SeriesSamples } from "../../state/sessions.ts";
import { changeSessionsLink } from "../../state/sessionsLoad.ts";
import { t, tn } from "../../state/words.ts";
import { QUALITIES } from "../../wire/sessions.ts";
import type { Sample } from "../../wire/sessions.ts";
import { TimeCurve } from "../../widgets/TimeCurve.tsx";
import { Raw } from "./Raw.tsx";
import type { Picked } from "./Raw.tsx";
import { clock, qualityColor, qualityText, value } from "./text.ts";

/** The curves of a session: recorded, live, or beside those of another one. */

/** Plots at once; more come by the button. */
const STEP = 24;
const HEIGHT = 132;

interface Drawn {
  readonly series: SeriesSamples;
  readonly curve: SessionCurve;
  readonly other: SessionCurve | null;
  readonly state: string | null;
  readonly last: Sample | null;
}

function freshOf(of: Loaded, series: SeriesSamples): number {
  const row = of.report.metrics.find((one) => seriesKey(one) === seriesKey(series));
  return row?.kind === "interval" ? Infinity : freshness(series.samples, of.partNs);
}

function curveOf(of: Loaded, series: SeriesSamples): SessionCurve {
  return sessionCurve(series.samples, of.startNs, freshOf(of, series));
}

/** The recorded curve, and what was told live behind its end. */
function withLive(of: Loaded | null): Drawn[] {
  const now = live.value;
  const recorded = new Map((of?.series ?? []).map((one) => [seriesKey(one), one]));
  if (now === null || now.over) {
    return of === null ? [] : of.series.map((series) => ({
      series, curve: curveOf(of, series), other: null, state: null,
      last: series.samples.at(-1) ?? null,
    }));
  }
  const start = of !== null && of.startNs > 0 ? of.startNs : now.startNs;
  return now.series.filter((one) => one !== undefined).map((one, id) => {
    const before = recorded.get(seriesKey(one))?.samples ?? [];
    const end = before.at(-1)?.timeNs ?? 0;
    const samples = [...before, ...one.samples.filter((sample) => sample.timeNs > end)];
    const series = { ...one, samples };
    return {
      series, curve: sessionCurve(samples, start, Math.max(FRESH_NS, freshness(samples, 0))),
      other: null, state: now.states.get(id) ?? null, last: samples.at(-1) ?? null,
    };
  });
}

function withOther(drawn: Drawn[], other: Loaded | null): Drawn[] {
  if (other === null) return drawn;
  const theirs = new Map(other.series.map((one) => [comparedKey(one), one]));
  return drawn.map((one) => {
    const found = theirs.get(comparedKey(one.series));
    return found === undefined ? one : { ...one, other: curveOf(other, found) };
  });
}

function Legend() {
  return (
    <div class="q-legend" aria-label={t("session.qualities")}>
      {QUALITIES.map((one) => (
        <span key={one}>
          <i style={{ background: `var(${qualityColor(one)})` }} />{qualityText(one)}
        </span>
      ))}
    </div>
  );
}

function Plot({ drawn, until, onPick }: {
  drawn: Drawn; until: number; onPick: (picked: Picked) => void;
}) {
  const { series, curve, other, state, last } = drawn;
  const joined = useMemo(() => (other === null ? null : joinCurves(curve, other)), [curve, other]);
  const band = curve.band.map((part) => ({
    from: part.from, to: part.to, color: qualityColor(part.quality), hole: part.quality !== "ok",
  }));
  const name = series.key === "" ? series.metric : `${series.metric} [${series.key}]`;
  const lines = [{ name, y: joined?.ya ?? curve.y, color: "--acc", dash: false }];
  if (joined !== null) {
    lines.push({ name: sessionsLink.value.other ?? "", y: joined.yb, color: "--warn", dash: true });
  }
  const pick = (at: number): void => {
    const time = (joined?.x ?? curve.x)[at];
    const place = curve.x.findIndex((one) => one === time);
    if (place >= 0) onPick({ seq: curve.seq[place]!, name, value: curve.y[place] ?? null });
  };
  return (
    <figure class="session-plot" data-metric={series.metric} data-source={series.source}>
      <figcaption>
        <b>{name}</b> <span class="dim">{series.source} · {series.unit}</span>
        <span class="grow" />
        {state !== null && state !== "live" && (
          <span class="tag">{t(state === "stale" ? "session.stale" : "session.ended")}</span>
        )}
        {last !== null && (
          <output>{last.value === null ? qualityText(last.quality) : value(last.value)}</output>
        )}
      </figcaption>
      <TimeCurve x={joined?.x ?? curve.x} lines={lines} band={band} until={until} height={HEIGHT}
        label={name} formatX={(at) => clock(at, until)} formatY={formatShort} onPick={pick} />
    </figure>
  );
}

export function Curves() {
  const shown = useSignal(STEP);
  const picked = useSignal<Picked | null>(null);
  const of = loaded.value;
  const other = compared.value;
  const { filter } = sessionsLink.value;
  const running = live.value;
  const all = useMemo(() => withOther(withLive(of), other), [of, other, running]);
  const wanted = all.filter(({ series }) =>
    `${series.metric} ${series.key} ${series.source}`.toLowerCase().includes(filter.toLowerCase()));
  const until = Math.max(0, ...all.map((one) => one.curve.x.at(-1) ?? 0));
  return (
    <div class="session-curves">
      <div class="sub-head">
        <input type="search" id="curve-filter" placeholder={t("session.filter")} value={filter}
          aria-label={t("session.filter")}
          onInput={(event) => changeSessionsLink({ filter: event.currentTarget.value })} />
        <span class="dim">{tn("session.curve", wanted.length)}</span>
        <span class="grow" />
        <Legend />
      </div>
      {picked.value !== null && of !== null && (
        <Raw session={of.name} picked={picked.value} close={() => (picked.value = null)} />
      )}
      <div class="session-plots">
        {wanted.slice(0, shown.value).map((one) => (
          <Plot key={seriesKey(one.series)} drawn={one} until={until}
            onPick={(at) => (picked.value = at)} />
        ))}
      </div>
      {wanted.length > shown.value && (
        <button class="btn more-plots" onClick={() => (shown.value += STEP)}>
          {t("session.more", { n: Math.min(STEP, wanted.length - shown.value) })}
        </button>
      )}
    </div>
  );
}

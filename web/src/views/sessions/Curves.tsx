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
import { TimeCurve } from "../../widgets/TimeCurve.tsx";
import { Raw } from "./Raw.tsx";
import type { Picked } from "./Raw.tsx";
import { clock, qualityColor, qualityText, value } from "./text.ts";

/** The curves of a session: recorded, live, or beside those of another one. */

/** Plots at once; more come by the button. */
const STEP = 24;
const HEIGHT = 132;

/** A curve that could be drawn; a machine's session has tens of thousands, of which few are. */
interface Listed {
  readonly series: SeriesSamples;
  readonly startNs: number;
  /** Undefined: as told by the distances of the samples. */
  readonly freshNs: number | undefined;
  readonly state: string | null;
}

interface Drawn extends Listed {
  readonly curve: SessionCurve;
  readonly other: SessionCurve | null;
}

/** How long a reading holds, by curve. */
function freshOf(of: Loaded): (series: SeriesSamples) => number {
  const kinds = new Map(of.report.metrics.map((one) => [seriesKey(one), one.kind]));
  return (series) => (kinds.get(seriesKey(series)) === "interval"
    ? Infinity : freshness(series.samples, of.partNs));
}

/** The recorded curves, and what was told live behind their ends. */
function withLive(of: Loaded | null): Listed[] {
  const now = live.value;
  if (now === null || now.over) {
    return of === null ? [] : of.series.map((series) => ({
      series, startNs: of.startNs, freshNs: undefined, state: null,
    }));
  }
  const recorded = new Map((of?.series ?? []).map((one) => [seriesKey(one), one]));
  const startNs = of !== null && of.startNs > 0 ? of.startNs : now.startNs;
  return now.series.filter((one) => one !== undefined).map((one, id) => {
    const before = recorded.get(seriesKey(one))?.samples ?? [];
    const end = before.at(-1)?.timeNs ?? 0;
    const samples = [...before, ...one.samples.filter((sample) => sample.timeNs > end)];
    return {
      series: { ...one, samples }, startNs, freshNs: Math.max(FRESH_NS, freshness(samples, 0)),
      state: now.states.get(id) ?? null,
    };
  });
}

/** The end of all, s. */
function endOf(all: readonly Listed[]): number {
  let end = 0;
  for (const { series, startNs } of all) {
    const last = series.samples.at(-1);
    if (last !== undefined) end = Math.max(end, (last.timeNs - startNs) / 1e9);
  }
  return end;
}

function draw(some: readonly Listed[], of: Loaded | null, other: Loaded | null): Drawn[] {
  const own = of === null ? null : freshOf(of);
  const theirs = other === null ? null : {
    startNs: other.startNs, fresh: freshOf(other),
    series: new Map(other.series.map((one) => [comparedKey(one), one])),
  };
  return some.map((one) => {
    const freshNs = one.freshNs ?? own?.(one.series) ?? FRESH_NS;
    const found = theirs?.series.get(comparedKey(one.series));
    return {
      ...one, curve: sessionCurve(one.series.samples, one.startNs, freshNs),
      other: theirs === null || found === undefined ? null
        : sessionCurve(found.samples, theirs.startNs, theirs.fresh(found)),
    };
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
  const { series, curve, other, state } = drawn;
  const last = series.samples.at(-1);
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
        {last !== undefined && (
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
  const all = useMemo(() => withLive(of), [of, running]);
  const part = filter.toLowerCase();
  const wanted = useMemo(() => all.filter(({ series }) =>
    `${series.metric} ${series.key} ${series.source}`.toLowerCase().includes(part)), [all, part]);
  const drawn = useMemo(() => draw(wanted.slice(0, shown.value), of, other),
    [wanted, shown.value, of, other]);
  const until = useMemo(() => endOf(all), [all]);
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
        {drawn.map((one) => (
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

import type { ComponentChildren } from "preact";
import { formatCount } from "../../base/num.ts";
import { comparedKey, compared, loaded, sessionsLink } from "../../state/sessions.ts";
import { t, tn } from "../../state/words.ts";
import type { Word } from "../../state/words.ts";
import { QUALITIES } from "../../wire/sessions.ts";
import type { MetricRow, SessionReport, SessionSummary } from "../../wire/sessions.ts";
import { Table } from "../../widgets/Table.tsx";
import type { Column } from "../../widgets/Table.tsx";
import { DASH, duration, qualityColor, qualityText, share, value } from "./text.ts";

/** The report: three claims apart, then what was measured. It holds stored numbers alone. */

const NONE = Number.NEGATIVE_INFINITY;

function nameOf(row: MetricRow): string {
  return row.key === "" ? row.metric : `${row.metric} [${row.key}]`;
}

/** Shares of the time by quality, as a bar with its words. */
function Shares({ row }: { row: MetricRow }) {
  const parts = QUALITIES.filter((one) => (row.shares[one] ?? 0) > 0);
  const title = parts.map((one) => `${qualityText(one)} ${share(row.shares[one])}`).join(", ");
  return (
    <span class="share-bar" title={title} aria-label={title}>
      {parts.map((one) => (
        <i key={one} style={{
          width: `${(row.shares[one] ?? 0) * 100}%`, background: `var(${qualityColor(one)})`,
        }} />
      ))}
    </span>
  );
}

type NumberField = "mean" | "min" | "p50" | "p90" | "p95" | "p99" | "max" | "last" | "total";
const NUMBERS: readonly NumberField[] = ["mean", "min", "p50", "p90", "p95", "p99", "max", "last",
  "total"];

function number(key: NumberField): Column<MetricRow> {
  return {
    key, title: t(key === "total" ? "session.sum" : `session.${key}`), sort: (row) => row[key] ?? NONE, cell: (row) => value(row[key]),
  };
}

function columns(): Column<MetricRow>[] {
  return [
    { key: "metric", title: t("session.metric"), left: true, sort: nameOf,
      cell: (row) => nameOf(row) },
    { key: "source", title: t("session.source"), left: true, sort: (row) => row.source,
      cell: (row) => row.source },
    { key: "unit", title: t("session.unit"), left: true, sort: (row) => row.unit,
      cell: (row) => row.unit },
    { key: "count", title: t("session.count"), sort: (row) => row.count,
      cell: (row) => formatCount(row.count) },
    ...NUMBERS.map(number),
    { key: "coverage", title: t("session.coverage"), sort: (row) => row.coverage ?? NONE,
      cell: (row) => <>{share(row.coverage)} <Shares row={row} /></> },
    { key: "evidence", title: t("session.evidence"), left: true, sort: (row) => row.evidence,
      cell: (row) => row.evidence },
  ];
}

interface Pair {
  readonly row: MetricRow;
  readonly other: MetricRow | null;
}

/** How much more than the other; null where either has no number, or the other is 0. */
export function ratioOf(pair: Pair, of: "mean" | "p95"): number | null {
  const a = pair.row[of];
  const b = pair.other?.[of] ?? null;
  return a === null || b === null || b === 0 ? null : a / b;
}

function ratio(of: number | null): string {
  return of === null ? DASH : `${Number(of.toPrecision(4))}×`;
}

function pairColumns(a: string, b: string): Column<Pair>[] {
  const of = (key: string, title: string, get: (pair: Pair) => number | null): Column<Pair> => ({
    key, title, sort: (pair) => get(pair) ?? NONE, cell: (pair) => value(get(pair)),
  });
  return [
    { key: "metric", title: t("session.metric"), left: true, sort: (pair) => nameOf(pair.row),
      cell: (pair) => nameOf(pair.row) },
    { key: "unit", title: t("session.unit"), left: true, sort: (pair) => pair.row.unit,
      cell: (pair) => pair.row.unit },
    of("meanA", `${t("session.mean")} · ${a}`, (pair) => pair.row.mean),
    of("meanB", `${t("session.mean")} · ${b}`, (pair) => pair.other?.mean ?? null),
    { key: "meanR", title: t("session.ratio"), sort: (pair) => ratioOf(pair, "mean") ?? NONE,
      cell: (pair) => ratio(ratioOf(pair, "mean")) },
    of("p95A", `${t("session.p95")} · ${a}`, (pair) => pair.row.p95),
    of("p95B", `${t("session.p95")} · ${b}`, (pair) => pair.other?.p95 ?? null),
    { key: "p95R", title: t("session.ratio"), sort: (pair) => ratioOf(pair, "p95") ?? NONE,
      cell: (pair) => ratio(ratioOf(pair, "p95")) },
    { key: "coverageA", title: `${t("session.coverage")} · ${a}`,
      sort: (pair) => pair.row.coverage ?? NONE, cell: (pair) => share(pair.row.coverage) },
    { key: "coverageB", title: `${t("session.coverage")} · ${b}`,
      sort: (pair) => pair.other?.coverage ?? NONE,
      cell: (pair) => share(pair.other?.coverage ?? null) },
  ];
}

export function pairs(a: SessionReport, b: SessionReport): Pair[] {
  const theirs = new Map(b.metrics.map((row) => [comparedKey(row), row]));
  return a.metrics.map((row) => ({ row, other: theirs.get(comparedKey(row)) ?? null }));
}

function Claim({ word, children }: { word: Word; children: ComponentChildren }) {
  return <p class="claim"><b>{t(word)}</b> {children}</p>;
}

function Claims({ summary, report }: { summary: SessionSummary | null; report: SessionReport }) {
  const partly = report.metrics.filter((row) => (row.coverage ?? 0) < 1).length;
  const by = new Map<string, number>();
  for (const row of report.metrics) by.set(row.evidence, (by.get(row.evidence) ?? 0) + 1);
  return (
    <div class="claims">
      <Claim word="session.pipe">
        {summary === null ? DASH : t(`session.claim.${summary.state}`)}
        {summary !== null && summary.reasons.length > 0 && `: ${summary.reasons.join(", ")}`}
      </Claim>
      <Claim word="session.continuity">
        {t("session.continuityNote", {
          gaps: formatCount(report.gapCount), errors: formatCount(report.decodeErrors),
          partly, all: report.metrics.length,
        })}
      </Claim>
      <Claim word="session.calibration">
        {[...by].map(([word, count]) => `${word}: ${count}`).join(", ")}
      </Claim>
    </div>
  );
}

function Frames({ report }: { report: SessionReport }) {
  if (report.frames.length === 0) return null;
  return (
    <section>
      <h3>{t("session.frames")}</h3>
      <table>
        <thead>
          <tr>
            {(["session.display", "session.frames", "session.fps", "session.fpsP1",
              "session.fpsLow", "session.jank", "session.bigJank", "session.stutter"] as const)
              .map((word) => <th key={word}><b>{t(word)}</b></th>)}
          </tr>
        </thead>
        <tbody>
          {report.frames.map((row) => (
            <tr key={`${row.source} ${row.display}`}>
              <td>{row.display}</td><td>{formatCount(row.frames)}</td><td>{value(row.fps)}</td>
              <td>{value(row.fpsP1)}</td><td>{value(row.fpsLow1Percent)}</td>
              <td>{formatCount(row.jankCount)}</td><td>{formatCount(row.bigJankCount)}</td>
              <td>{share(row.stutter)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Phases one under the other, each as long as it took. */
function Launch({ report }: { report: SessionReport }) {
  const { phases, sumNs, restNs } = report.launch;
  if (phases.length === 0) return null;
  const longest = Math.max(1, ...phases.map((one) => one.ns ?? 0));
  return (
    <section>
      <h3>{t("session.launch")}</h3>
      <div class="phases">
        {phases.map((one) => (
          <div class="phase" key={one.seq}>
            <span>{one.phase === "" ? DASH : one.phase}</span>
            <span class="phase-bar">
              {one.ns !== null && <i style={{ width: `${(one.ns / longest) * 100}%` }} />}
            </span>
            <span class="num">{one.ns === null ? qualityText(one.quality) : duration(one.ns)}</span>
          </div>
        ))}
      </div>
      <p class="dim">{t("session.launchSum", { sum: duration(sumNs), rest: duration(restNs) })}</p>
    </section>
  );
}

/** As many as a table draws: a machine's session has a source a process. */
const LISTED = 500;

function More({ all }: { all: number }) {
  return all > LISTED ? <li>+ {formatCount(all - LISTED)}</li> : null;
}

function Gaps({ report }: { report: SessionReport }) {
  return (
    <section>
      <h3>{t("session.gaps")}</h3>
      {report.gaps.length === 0 && <p class="dim">{t("session.noGaps")}</p>}
      <ul class="gaps">
        {report.gaps.slice(0, LISTED).map((one) => (
          <li key={`${one.gap} ${one.seq}`}>{one.gap} · #{one.seq}</li>
        ))}
        <More all={report.gaps.length} />
      </ul>
    </section>
  );
}


function Sources({ report }: { report: SessionReport }) {
  const all = report.sources.filter((one) => one.source !== "");
  return (
    <section>
      <h3>{t("session.sources")}</h3>
      <ul class="gaps">
        {all.slice(0, LISTED).map((one) => (
          <li key={one.source}>
            {one.source} · {tn("session.lines", one.envelopes)}
            {one.stopped ? ` · ${t("session.stopped")}` : ""}
          </li>
        ))}
        <More all={all.length} />
      </ul>
    </section>
  );
}

export function Report({ summary }: { summary: SessionSummary | null }) {
  const of = loaded.value;
  const other = compared.value;
  if (of === null) return null;
  const { report } = of;
  const wanted = sessionsLink.value.filter.toLowerCase();
  const has = (row: MetricRow): boolean =>
    `${nameOf(row)} ${row.source}`.toLowerCase().includes(wanted);
  return (
    <div class="session-report">
      <Claims summary={summary} report={report} />
      <div class="scroll metrics-table">
        {other === null
          ? <Table columns={columns()} rows={report.metrics.filter(has)} first="metric"
              id={(row) => `${row.metric} ${row.key} ${row.source}`} />
          : <Table columns={pairColumns(of.name, other.name)} first="metric"
              rows={pairs(report, other.report).filter((pair) => has(pair.row))}
              id={(pair) => `${pair.row.metric} ${pair.row.key} ${pair.row.source}`} />}
      </div>
      <Frames report={report} />
      <Launch report={report} />
      <Gaps report={report} />
      <Sources report={report} />
      <p class="dim">{t("session.dashNote")}</p>
    </div>
  );
}

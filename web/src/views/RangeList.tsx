import { PALETTE, colorIndex } from "../base/color.ts";
import { formatCount, formatShare, formatValue } from "../base/num.ts";
import { formatDuration } from "../base/time.ts";
import { selection } from "../state/store.ts";
import { t } from "../state/words.ts";
import { rangeState } from "../tracks/rangeQuery.ts";
import type { CounterRow, RangeStats, StatRow } from "../tracks/stats.ts";
import { Table } from "../widgets/Table.tsx";
import type { Column } from "../widgets/Table.tsx";
import { lanePath } from "./Detail.tsx";
import { revealLane } from "./Canvas.tsx";

/** Statistics of the selected range. */

const duration = (ns: number): string => (Number.isNaN(ns) ? "—" : formatDuration(ns));

function Dot({ name }: { name: string }) {
  return <i class="dot" style={{ background: PALETTE[colorIndex(name)] }} />;
}

function nameColumns(): Column<StatRow>[] {
  return [
    {
      key: "name", title: t("list.name"), left: true, sort: (row) => row.name,
      cell: (row) => <><Dot name={row.name} />{row.name}</>,
    },
    { key: "count", title: t("list.count"), sort: (row) => row.count,
      cell: (row) => formatCount(row.count) },
    { key: "total", title: t("list.total"), sort: (row) => row.total,
      cell: (row) => duration(row.total) },
    { key: "self", title: t("list.self"), sort: (row) => row.self,
      cell: (row) => duration(row.self) },
    { key: "mean", title: t("list.mean"), sort: (row) => row.total / row.count,
      cell: (row) => duration(row.total / row.count) },
    { key: "max", title: t("list.max"), sort: (row) => row.max, cell: (row) => duration(row.max) },
  ];
}

function laneColumns(span: number): Column<StatRow>[] {
  return [
    {
      key: "name", title: t("list.lane"), left: true, sort: (row) => row.name,
      cell: (row) => (row.lane === null ? row.name : lanePath(row.lane)),
    },
    { key: "count", title: t("list.count"), sort: (row) => row.count,
      cell: (row) => formatCount(row.count) },
    { key: "total", title: t("list.total"), sort: (row) => row.total,
      cell: (row) => duration(row.total) },
    { key: "busy", title: t("list.busy"), sort: (row) => row.total / span,
      cell: (row) => formatShare(row.total / span) },
    { key: "longest", title: t("list.longest"), left: true, sort: (row) => row.longest,
      cell: (row) => row.longest },
  ];
}

function counterColumns(): Column<CounterRow>[] {
  return [
    { key: "lane", title: t("list.lane"), left: true, sort: (row) => row.lane.title,
      cell: (row) => lanePath(row.lane) },
    { key: "count", title: t("list.count"), sort: (row) => row.count,
      cell: (row) => formatCount(row.count) },
    { key: "min", title: t("list.min"), sort: (row) => row.min,
      cell: (row) => formatValue(row.min) },
    { key: "max", title: t("list.max"), sort: (row) => row.max,
      cell: (row) => formatValue(row.max) },
    { key: "last", title: t("list.last"), sort: (row) => row.last,
      cell: (row) => formatValue(row.last) },
  ];
}

function Stats({ stats, span }: { stats: RangeStats; span: number }) {
  const go = (row: StatRow): void => {
    if (row.lane !== null) revealLane(row.lane.key);
  };
  return (
    <>
      {stats.rows.length > 0 && (
        <Table
          key={stats.by} rows={stats.rows} first="total" onPick={go}
          columns={stats.by === "name" ? nameColumns() : laneColumns(span)}
          id={(row) => `${row.name} ${row.lane?.key ?? ""}`}
        />
      )}
      {stats.counters.length > 0 && (
        <Table rows={stats.counters} columns={counterColumns()} first="lane"
          id={(row) => row.lane.key} onPick={(row) => revealLane(row.lane.key)} />
      )}
      <p class="note">{stats.by === "name" ? t("list.note") : t("pane.tooMany")}</p>
    </>
  );
}

export function RangeList() {
  const range = selection.value;
  const now = rangeState.value;
  if (range === null || now.state === "none") return <p class="empty">{t("pane.noneRange")}</p>;
  if (now.state === "asking") return <p class="empty">{t("pane.counting")}</p>;
  if (now.state === "failed") {
    return <p class="empty error" role="alert">{now.error.message}</p>;
  }
  return <div class="scroll stats"><Stats stats={now.stats} span={range.end - range.start} /></div>;
}

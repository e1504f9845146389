import { useState } from "preact/hooks";
import { formatValue } from "../../base/num.ts";
import { t, tn } from "../../state/words.ts";
import type { ResultDetails } from "../../wire/evaluation.ts";
import { Table } from "../../widgets/Table.tsx";
import type { Column } from "../../widgets/Table.tsx";

/** All counters of a run, searchable. */

interface Counter {
  readonly name: string;
  readonly value: number;
}

/** Every word of the search must be in the name. */
export function findCounters(
  stats: Readonly<Record<string, number>>, search: string,
): readonly Counter[] {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return Object.entries(stats)
    .filter(([name]) => words.every((word) => name.toLowerCase().includes(word)))
    .map(([name, value]) => ({ name, value }));
}

export function Counters({ row }: { row: ResultDetails }) {
  const [search, setSearch] = useState("");
  const stats = row.stats ?? {};
  const found = findCounters(stats, search);
  const columns: readonly Column<Counter>[] = [
    { key: "name", title: t("result.counter"), left: true, sort: (one) => one.name,
      cell: (one) => <span class="mono">{one.name}</span> },
    { key: "value", title: t("result.value"), sort: (one) => one.value,
      cell: (one) => formatValue(one.value, 12) },
  ];
  return (
    <div class="counters">
      <div class="sub-head">
        <input id="counter-search" type="search" spellcheck={false} value={search}
          placeholder={t("result.searchCounters")} aria-label={t("result.searchCounters")}
          onInput={(event) => setSearch(event.currentTarget.value)} />
        <span class="dim" id="counter-count">{tn("result.counters", found.length)}</span>
      </div>
      <div class="scroll">
        {found.length === 0
          ? <p class="empty">{t("result.noCounters")}</p>
          : <Table columns={columns} rows={found} first="value" id={(one) => one.name} />}
      </div>
    </div>
  );
}

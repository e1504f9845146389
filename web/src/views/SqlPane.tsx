import { useMemo, useState } from "preact/hooks";
import { compareTexts } from "../base/collate.ts";
import { download } from "../base/download.ts";
import { formatCount } from "../base/num.ts";
import { formatDuration } from "../base/time.ts";
import { sqlState, sqlText } from "../state/sqlState.ts";
import { trace } from "../state/store.ts";
import { t, tn } from "../state/words.ts";
import type { DecoderClient } from "../tracks/client.ts";
import { foundIn, keysOf, lookupOf } from "../tracks/sqlTarget.ts";
import { Grid } from "../widgets/Grid.tsx";
import type { GridColumn } from "../widgets/Grid.tsx";
import { api } from "../wire/api.ts";
import { cellText, placeOf } from "../wire/sql.ts";
import type { SqlColumn, SqlResult } from "../wire/sql.ts";
import { ApiError } from "../wire/types.ts";
import type { ApiErrorBody } from "../wire/types.ts";
import { jumpToFound } from "./sliceTarget.ts";

/** Statement, answer, and the way from a row to its slice. */

function bodyOf(problem: unknown): ApiErrorBody {
  return problem instanceof ApiError ? problem.body : { code: "page", message: String(problem) };
}

async function run(client: DecoderClient): Promise<void> {
  const id = trace.peek()?.trace_id;
  const sql = sqlText.peek().trim().replace(/;$/, "");
  if (id === undefined || sql === "") return;
  stop(client);
  const began = performance.now();
  const { ticket, rows } = client.query(api.queryUrl(id), sql);
  sqlState.value = { state: "asking", ticket };
  try {
    const result = await rows;
    sqlState.value = {
      state: "ready", result, ms: performance.now() - began, sql, traceId: id,
    };
  } catch (problem) {
    sqlState.value = { state: "failed", error: bodyOf(problem), sql };
  }
}

function stop(client: DecoderClient): void {
  const now = sqlState.peek();
  if (now.state !== "asking") return;
  client.drop(now.ticket);
  sqlState.value = { state: "none" };
}

function compareColumn(column: SqlColumn): GridColumn["compare"] {
  const { values } = column;
  return (a, b) => {
    const x = values[a]!;
    const y = values[b]!;
    // Unknown values are the least, as in an ascending ORDER BY … NULLS FIRST.
    if (x === null || y === null) return (x === null ? 0 : 1) - (y === null ? 0 : 1);
    if (typeof x === "string" || typeof y === "string") {
      return compareTexts(String(x), String(y));
    }
    return x < y ? -1 : x > y ? 1 : 0;
  };
}

function gridColumns(result: SqlResult): GridColumn[] {
  return result.columns.map((column) => ({
    name: column.name, numeric: column.kind === "integer" || column.kind === "real",
    text: (row) => cellText(column.values[row] ?? null), compare: compareColumn(column),
  }));
}

/** Shows the slice of a row; returns what to say where there is none. */
async function show(client: DecoderClient, result: SqlResult, row: number): Promise<string> {
  const info = trace.peek();
  const lookup = lookupOf(keysOf(result, row));
  if (info === null || lookup === null) return t("sql.noTarget");
  const found = foundIn(await client.query(api.queryUrl(info.trace_id), lookup).rows);
  if (found === null) return t("sql.noSlice");
  return jumpToFound(found) ? "" : t("sql.noLane", { lane: found.lane });
}

function Failure({ error, sql }: { error: ApiErrorBody; sql: string }) {
  const place = error.position === undefined ? null : placeOf(sql, error.position);
  return (
    <p class="error sql-error" role="alert">
      {place !== null && <b>{t("sql.place", { line: place.line, column: place.column })} </b>}
      {error.message}
    </p>
  );
}

function Answer({ client, result, say }: {
  client: DecoderClient; result: SqlResult; say: (text: string) => void;
}) {
  const [picked, setPicked] = useState<number | null>(null);
  const columns = useMemo(() => gridColumns(result), [result]);
  const pick = (row: number): void => {
    setPicked(row);
    show(client, result, row).then(say).catch((problem: unknown) => say(bodyOf(problem).message));
  };
  if (result.rows === 0) return <p class="empty">{t("sql.noRows")}</p>;
  return (
    <Grid columns={columns} rows={result.rows} label={t("sql.label")} picked={picked}
      onPick={pick} />
  );
}

export function SqlPane({ client }: { client: DecoderClient }) {
  const [said, setSaid] = useState("");
  const now = sqlState.value;
  const asking = now.state === "asking";
  const go = (): void => {
    setSaid("");
    void run(client);
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    go();
  };
  const save = (id: number, sql: string): void => {
    api.csv(id, sql).then((csv) => download("query.csv", csv)).catch((problem: unknown) => setSaid(bodyOf(problem).message));
  };
  return (
    <div class="sql">
      <div class="sql-ask">
        <textarea id="sql-text" rows={4} spellcheck={false} aria-label={t("sql.statement")}
          value={sqlText.value} onKeyDown={keys}
          onInput={(event) => (sqlText.value = event.currentTarget.value)} />
        <div class="sql-bar">
          <button class="btn primary" id="sql-run" onClick={asking ? () => stop(client) : go}>
            {asking ? t("sql.stop") : t("sql.run")} {!asking && <kbd>Ctrl ↵</kbd>}
          </button>
          {now.state === "ready" && (
            <button class="btn" id="sql-csv" onClick={() => save(now.traceId, now.sql)}>
              {t("sql.csv")}
            </button>
          )}
          {now.state === "ready" && (
            <span class="dim" id="sql-told">
              {now.result.more ? t("sql.first", { n: formatCount(now.result.rows) })
                : tn("sql.rows", now.result.rows)} · {formatDuration(now.ms * 1e6, 3)}
            </span>
          )}
          {asking && <span class="dim">{t("sql.asking")}</span>}
          {said !== "" && <span class="warn-text" role="status">{said}</span>}
        </div>
      </div>
      {now.state === "failed" && <Failure error={now.error} sql={now.sql} />}
      {now.state === "none" && <p class="empty">{t("sql.idle")}</p>}
      {now.state === "ready" && <Answer client={client} result={now.result} say={setSaid} />}
    </div>
  );
}

import { useEffect, useMemo, useState } from "preact/hooks";
import { formatCount } from "../base/num.ts";
import { formatDuration, formatTime } from "../base/time.ts";
import { changeSettings } from "../state/actions.ts";
import {
  findAt, findState, findStatement, findText, hitsOf, nextHit,
} from "../state/find.ts";
import type { FindHits, FindText } from "../state/find.ts";
import { settings, tab, timeZero, trace, tree, view } from "../state/store.ts";
import { t, tn } from "../state/words.ts";
import type { DecoderClient } from "../tracks/client.ts";
import { Grid } from "../widgets/Grid.tsx";
import type { GridColumn } from "../widgets/Grid.tsx";
import { api } from "../wire/api.ts";
import { ApiError } from "../wire/types.ts";
import { lanePath } from "./Detail.tsx";
import { jumpToFound } from "./sliceTarget.ts";

/** Search by name: hits in a list, next and previous. */

/** The search begins when typing has rested so long, ms. */
const REST_MS = 250;

export function openFind(): void {
  tab.value = "find";
  if (!settings.peek().paneOpen) changeSettings({ paneOpen: true });
  // The field is there after the next render.
  requestAnimationFrame(() => {
    const field = document.getElementById("find-text") as HTMLInputElement | null;
    field?.focus();
    field?.select();
  });
}

function relative(ts: bigint): number {
  return Number(ts - BigInt(trace.peek()?.bounds?.origin_ns ?? "0"));
}

function stop(client: DecoderClient): void {
  const now = findState.peek();
  if (now.state === "asking") client.drop(now.ticket);
}

/** Asks anew; null where there is nothing to ask. */
async function search(client: DecoderClient): Promise<FindHits | null> {
  stop(client);
  findAt.value = -1;
  const id = trace.peek()?.trace_id;
  const find = findText.peek();
  if (id === undefined || find.text === "") {
    findState.value = { state: "none" };
    return null;
  }
  const { ticket, rows } = client.query(api.queryUrl(id), findStatement(find));
  findState.value = { state: "asking", ticket, traceId: id };
  try {
    const hits = hitsOf(await rows, id);
    findState.value = { state: "ready", hits };
    return hits;
  } catch (problem) {
    const error = problem instanceof ApiError ? problem.body
      : { code: "page", message: String(problem) };
    findState.value = { state: "failed", error };
    return null;
  }
}

function goTo(hits: FindHits, at: number, say: (text: string) => void): void {
  if (at < 0) return;
  findAt.value = at;
  const went = jumpToFound({
    id: hits.id[at]!, ts: hits.ts[at]!, dur: hits.dur[at]!, name: hits.name[at]!,
    lane: hits.lane[at]!, row: hits.row[at]!,
  });
  say(went ? "" : t("sql.noLane", { lane: hits.lane[at]! }));
}

async function step(
  client: DecoderClient, way: 1 | -1, say: (text: string) => void,
): Promise<void> {
  const now = findState.peek();
  const current = now.state === "ready" && now.hits.traceId === trace.peek()?.trace_id;
  const hits = current ? now.hits : await search(client);
  if (hits === null) return;
  const origin = BigInt(trace.peek()?.bounds?.origin_ns ?? "0");
  const from = origin + BigInt(Math.round(view.peek().start));
  goTo(hits, nextHit(hits, findAt.peek(), way, from), say);
}

function hitColumns(hits: FindHits): GridColumn[] {
  const lanes = new Map(tree.peek().lanes.map((lane) => [lane.key, lanePath(lane)]));
  const lane = (row: number): string => lanes.get(`t${hits.lane[row]!}`) ?? "";
  const texts = (name: string, text: (row: number) => string): GridColumn => ({
    name, numeric: false, text, compare: (a, b) => text(a).localeCompare(text(b)),
  });
  const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
  return [
    texts(t("detail.name"), (row) => hits.name[row]!),
    {
      name: t("detail.start"), numeric: true,
      text: (row) => formatTime(relative(hits.ts[row]!) - timeZero.peek()),
      compare: (a, b) => order(hits.ts[a]!, hits.ts[b]!),
    },
    {
      name: t("detail.duration"), numeric: true,
      text: (row) => hits.dur[row]! < 0n ? t("detail.open") : formatDuration(Number(hits.dur[row]!)),
      compare: (a, b) => order(hits.dur[a]!, hits.dur[b]!),
    },
    texts(t("detail.lane"), lane),
  ];
}

function Hits({ hits, say }: { hits: FindHits; say: (text: string) => void }) {
  const columns = useMemo(() => hitColumns(hits), [hits, tree.value]);
  if (hits.rows === 0) return <p class="empty">{t("find.nothing")}</p>;
  return (
    <Grid columns={columns} rows={hits.rows} label={t("find.label")}
      picked={findAt.value < 0 ? null : findAt.value} onPick={(row) => goTo(hits, row, say)} />
  );
}

function Told() {
  const now = findState.value;
  if (now.state === "asking") return <span class="dim">{t("sql.asking")}</span>;
  if (now.state !== "ready") return null;
  const { rows, total } = now.hits;
  const at = findAt.value < 0 ? "" : `${formatCount(findAt.value + 1)} / `;
  const text = total > rows ? t("find.first", { n: formatCount(rows), total: formatCount(total) })
    : tn("find.hits", rows);
  return <span class="dim" id="find-told">{at}{text}</span>;
}

export function FindPane({ client }: { client: DecoderClient }) {
  const [said, say] = useState("");
  const find = findText.value;
  const now = findState.value;
  const change = (part: Partial<FindText>): void => {
    findText.value = { ...find, ...part };
    stop(client);
    findState.value = { state: "none" };
    say("");
  };
  useEffect(() => {
    if (find.text === "" || findState.peek().state !== "none") return;
    const timer = window.setTimeout(() => void search(client), REST_MS);
    return () => window.clearTimeout(timer);
  }, [find]);
  const go = (way: 1 | -1): void => {
    step(client, way, say).catch((problem: unknown) => say(String(problem)));
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  };
  const box = (key: "word" | "exact", label: string) => (
    <label class="tick">
      <input type="checkbox" checked={find[key]}
        onChange={(event) => change({ [key]: event.currentTarget.checked })} />
      {label}
    </label>
  );
  const counts = trace.value?.counts;
  const named = (counts?.["slice"] ?? 0) + (counts?.["instant"] ?? 0) > 0;
  const fresh = now.state !== "ready" || now.hits.traceId === trace.value?.trace_id;
  return (
    <div class="sql">
      <div class="find-bar">
        <input id="find-text" type="search" spellcheck={false} placeholder={t("find.place")}
          aria-label={t("find.place")} value={find.text} onKeyDown={keys}
          onInput={(event) => change({ text: event.currentTarget.value })} />
        <button class="btn" id="find-back" disabled={find.text === ""} title="Shift + Enter"
          onClick={() => go(-1)}>{t("find.back")}</button>
        <button class="btn" id="find-next" disabled={find.text === ""} title="Enter"
          onClick={() => go(1)}>{t("find.next")}</button>
        {box("exact", t("find.exact"))}
        {box("word", t("find.word"))}
        <Told />
        {said !== "" && <span class="warn-text" role="status">{said}</span>}
      </div>
      {now.state === "failed" && <p class="error sql-error" role="alert">{now.error.message}</p>}
      {now.state === "none" && <p class="empty">{t(named ? "find.idle" : "find.events")}</p>}
      {now.state === "ready" && fresh && <Hits hits={now.hits} say={say} />}
    </div>
  );
}

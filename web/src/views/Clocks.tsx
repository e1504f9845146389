import { useState } from "preact/hooks";
import { download } from "../base/download.ts";
import { stringify } from "../base/json.ts";
import { formatCount, formatValue } from "../base/num.ts";
import { formatDuration } from "../base/time.ts";
import {
  isReference, mainClock, makeManifest, manifestOffsets, parseOffset,
} from "../state/manifest.ts";
import type { Offsets } from "../state/manifest.ts";
import { clocks } from "../state/store.ts";
import { t, tn } from "../state/words.ts";
import type { Word } from "../state/words.ts";
import type { OpenHow } from "../wire/api.ts";
import { ApiError } from "../wire/types.ts";
import type { ClockFile, ClockNode, ClockStep, Clocks } from "../wire/types.ts";
import { Panel } from "./Panel.tsx";

/** How each file came onto the timeline, and how to place it otherwise. */

const ALIGNS = ["realtime", "start", "collectives", "none"] as const;

function fileName(path: string): string {
  return path.split("/").at(-1) ?? path;
}

/** Signed span with its unit; exact where it is short. */
function spanText(ns: number): string {
  return ns < 0 ? `−${formatDuration(-ns, 9)}` : formatDuration(ns, 9);
}

function clockName(all: Clocks, id: number): string {
  const clock = all.clocks.find((one) => one.id === id);
  if (clock === undefined) return `#${id}`;
  return t("clocks.of", { clock: clock.clock, file: fileName(clock.file) });
}

function sourceWord(source: string): string {
  return ["observed", "manifest", "assumed"].includes(source)
    ? t(`clocks.${source}` as Word) : source;
}

function Step({ all, step }: { all: Clocks; step: ClockStep }) {
  const assumed = step.source === "assumed";
  const facts: string[] = [];
  if (!assumed || step.first_offset_ns !== 0) {
    facts.push(t("clocks.offset", { offset: spanText(step.first_offset_ns) }));
  }
  if (!assumed && step.observations > 1) {
    facts.push(tn("clocks.observations", step.observations));
    facts.push(t("clocks.spread", { spread: spanText(step.spread_ns) }));
    facts.push(t("clocks.drift", { ppm: formatValue(step.drift_ppm, 3) }));
  }
  return (
    <li>
      <span class={assumed ? "sev sev-warning" : "sev"}>{sourceWord(step.source)}</span>{" "}
      {t("clocks.step", { from: clockName(all, step.from), to: clockName(all, step.to) })}
      {facts.length > 0 && <small>{facts.join(" · ")}</small>}
    </li>
  );
}

function Clock({ all, clock }: { all: Clocks; clock: ClockNode }) {
  const told: string[] = [];
  if (clock.path.length === 0 && clock.reached) told.push(t("clocks.isTraceTime"));
  if (!clock.reached) told.push(t("clocks.unreached"));
  else if (clock.assumed) told.push(t("clocks.assumedEqual"));
  else if (clock.off_by_ns !== null && clock.off_by_ns > 0) {
    told.push(t("clocks.off", { off: spanText(clock.off_by_ns) }));
  }
  if (clock.dropped > 0) told.push(t("clocks.dropped", { n: formatCount(clock.dropped) }));
  return (
    <div class="clock">
      <code>{clock.clock}{clock.sequence > 0 ? ` ${clock.sequence}` : ""}</code>{" "}
      <span class={clock.reached ? "dim" : "error"}>{told.join(" · ")}</span>
      {clock.path.length > 0 && (
        <ul>{clock.path.map((step, at) => <Step key={at} all={all} step={step} />)}</ul>
      )}
    </div>
  );
}

function File({ all, file, text, change }: {
  all: Clocks; file: ClockFile; text: string; change: (text: string) => void;
}) {
  const own = all.clocks.filter((one) => file.clocks.includes(one.id));
  const placed = isReference(all, file) || mainClock(all, file) === undefined;
  return (
    <section class="clock-file">
      <h3 title={file.path}>
        {fileName(file.path)}
        {file.machine !== null && <small> {t("clocks.machine", { name: file.machine })}</small>}
      </h3>
      {own.map((clock) => <Clock key={clock.id} all={all} clock={clock} />)}
      {file.shift_ns !== 0 && (
        <p class="dim">
          {t("clocks.shift", { shift: spanText(file.shift_ns) })}
          {file.pairs > 0 && <> · {t("clocks.pairs", { n: formatCount(file.pairs) })}</>}
        </p>
      )}
      {!placed && (
        <label class="offset">
          {t("clocks.setOffset")}
          <input inputMode="numeric" value={text} placeholder="0" spellcheck={false}
            aria-label={`${t("clocks.setOffset")}: ${fileName(file.path)}`}
            onInput={(event) => change(event.currentTarget.value)} />
        </label>
      )}
    </section>
  );
}

/** The offsets in the fields, or the first text that is none. */
function readOffsets(texts: Readonly<Record<string, string>>): Offsets | string {
  const out: Record<string, bigint> = {};
  for (const [path, text] of Object.entries(texts)) {
    if (text.trim() === "") continue;
    const offset = parseOffset(text);
    if (offset === null) return text;
    out[path] = offset;
  }
  return out;
}

function initialTexts(all: Clocks): Record<string, string> {
  return Object.fromEntries(Object.entries(manifestOffsets(all))
    .map(([path, offset]) => [path, String(offset)]));
}

function Content({ all, reopen }: {
  all: Clocks; reopen: (how: OpenHow) => Promise<void>;
}) {
  const [texts, setTexts] = useState(() => initialTexts(all));
  const [align, setAlign] = useState(all.align);
  const [said, setSaid] = useState("");
  const offsets = readOffsets(texts);
  const bad = typeof offsets === "string" ? t("clocks.badOffset", { text: offsets }) : "";
  const manifest = typeof offsets === "string" ? null : makeManifest(all, offsets);
  const apply = (): void => {
    setSaid("");
    reopen({ align, ...(manifest === null ? {} : { manifest }) }).catch((problem: unknown) => {
      setSaid(problem instanceof ApiError ? problem.body.message : String(problem));
    });
  };
  const save = (): void => download("manifest.json",
    new Blob([`${stringify(manifest, 2)}\n`], { type: "application/json" }));
  return (
    <>
      {all.trace_time !== null && (
        <p><b>{t("clocks.traceTime")}</b>{" "}
          {t("clocks.of", { clock: all.trace_time.clock, file: fileName(all.trace_time.file) })}
        </p>
      )}
      {all.files.map((file) => (
        <File key={file.path} all={all} file={file} text={texts[file.path] ?? ""}
          change={(text) => setTexts({ ...texts, [file.path]: text })} />
      ))}
      <label class="field">
        {t("clocks.alignBy")}
        <select id="align" value={align} onChange={(event) => setAlign(event.currentTarget.value)}>
          {ALIGNS.map((one) => (
            <option key={one} value={one}>{t(`clocks.align.${one}` as Word)}</option>
          ))}
        </select>
      </label>
      {(bad !== "" || said !== "") && <p class="error" role="alert">{bad || said}</p>}
      <div class="buttons">
        <button class="btn primary" id="clocks-apply" disabled={bad !== ""} onClick={apply}>
          {t("clocks.apply")}
        </button>
        <button class="btn" id="clocks-export" disabled={manifest === null} onClick={save}>
          {t("clocks.export")}
        </button>
      </div>
      <p class="dim small">{t("clocks.exportNote")}</p>
    </>
  );
}

export function ClocksPanel({ reopen }: { reopen: (how: OpenHow) => Promise<void> }) {
  const all = clocks.value;
  return (
    <Panel title={t("clocks.title")}>
      {all === null ? <p class="dim">{t("clocks.none")}</p>
        : <Content all={all} reopen={reopen} />}
    </Panel>
  );
}

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { makeManifest, manifestOffsets } from "../state/manifest.ts";
import { clocks, panel, trace } from "../state/store.ts";
import { t } from "../state/words.ts";
import { api } from "../wire/api.ts";
import type { OpenHow } from "../wire/api.ts";
import { ApiError } from "../wire/types.ts";
import type { TraceSummary } from "../wire/types.ts";
import { Panel } from "./Panel.tsx";

/** Opening traces, and further files into the one on screen: by path, or dropped on the page. */

export interface OpenActions {
  open(paths: readonly string[]): Promise<void>;
  show(id: number): Promise<void>;
  /** Opens the files on screen and these in place of the trace on screen. */
  reopen(more: readonly string[], how: OpenHow): Promise<void>;
}

/** What the panel says of a drop that named no path. */
const dropNote = signal("");

/** Adds files, with the clocks of the trace on screen as they are. */
export function addFiles(actions: OpenActions, paths: readonly string[]): Promise<void> {
  const all = clocks.peek();
  if (all === null) return actions.reopen(paths, {});
  const manifest = makeManifest(all, manifestOffsets(all));
  return actions.reopen(paths, { align: all.align, ...(manifest === null ? {} : { manifest }) });
}

/** Paths that a drop tells: lines of text, or file URLs. Files themselves have none. */
export function droppedPaths(list: string, text: string): string[] {
  const lines = (list !== "" ? list : text).split(/\r?\n/).map((line) => line.trim());
  return lines.flatMap((line) => {
    if (line.startsWith("file://")) return [decodeURIComponent(new URL(line).pathname)];
    return line.startsWith("/") ? [line] : [];
  });
}

export function listenDrops(target: Window, actions: OpenActions): void {
  const relevant = (event: DragEvent): boolean => {
    const types = event.dataTransfer?.types ?? [];
    return types.includes("Files") || types.includes("text/uri-list")
      || types.includes("text/plain");
  };
  target.addEventListener("dragover", (event) => {
    if (!relevant(event)) return;
    event.preventDefault();
    document.documentElement.dataset["dropping"] = "";
  });
  target.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) delete document.documentElement.dataset["dropping"];
  });
  target.addEventListener("drop", (event) => {
    delete document.documentElement.dataset["dropping"];
    const data = event.dataTransfer;
    if (data === null || !relevant(event)) return;
    const typing = event.target instanceof HTMLElement
      && event.target.closest("input, textarea") !== null;
    const paths = droppedPaths(data.getData("text/uri-list"), data.getData("text/plain"));
    if (typing && data.files.length === 0) return;
    event.preventDefault();
    dropNote.value = paths.length > 0 || data.files.length === 0 ? ""
      : t("open.dropped", { names: [...data.files].map((file) => file.name).join(", ") });
    if (paths.length === 0) {
      if (data.files.length > 0) panel.value = "open";
      return;
    }
    addFiles(actions, paths).catch((problem: unknown) => {
      dropNote.value = messageOf(problem);
      panel.value = "open";
    });
  });
}

function messageOf(problem: unknown): string {
  return problem instanceof ApiError ? problem.body.message : String(problem);
}

function OpenList({ show }: { show: (id: number) => void }) {
  const [list, setList] = useState<readonly TraceSummary[]>([]);
  useEffect(() => {
    api.traces().then(setList).catch(() => setList([]));
  }, []);
  return (
    <>
      <h3>{t("open.list")}</h3>
      {list.length === 0 && <p class="dim">{t("open.none")}</p>}
      <ul class="open-list">
        {list.map((one) => (
          <li key={one.trace_id}>
            <button class="link" onClick={() => show(one.trace_id)}>
              {one.files.map((file) => file.path).join(", ") || `#${one.trace_id}`}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

export function OpenPanel({ actions }: { actions: OpenActions }) {
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const paths = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const go = (work: Promise<void>): void => {
    setError("");
    dropNote.value = "";
    work.catch((problem: unknown) => setError(messageOf(problem)));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (paths.length > 0) go(actions.open(paths));
  };
  const told = error !== "" ? error : dropNote.value;
  return (
    <Panel title={t("open.title")}>
      <form onSubmit={submit}>
        <label class="field">
          {t("open.path")}
          <textarea rows={3} spellcheck={false} placeholder={t("open.pathHint")} value={text}
            onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        {told !== "" && <p class="error" role="alert">{told}</p>}
        <div class="buttons">
          <button class="btn primary" type="submit">{t("open.go")}</button>
          {trace.value?.state === "ready" && (
            <button class="btn" type="button" id="open-add" title={t("open.addNote")}
              onClick={() => paths.length > 0 && go(addFiles(actions, paths))}>
              {t("open.add")}
            </button>
          )}
        </div>
      </form>
      <OpenList show={(id) => void actions.show(id)} />
    </Panel>
  );
}

import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { changeSettings } from "../state/actions.ts";
import { panel, settings } from "../state/store.ts";
import type { Settings } from "../state/store.ts";
import { t } from "../state/words.ts";
import type { Word } from "../state/words.ts";
import { api } from "../wire/api.ts";
import { ApiError } from "../wire/types.ts";
import type { TraceSummary } from "../wire/types.ts";

/** Panels that slide in at the right: opening, settings, help. */

function Panel({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <aside class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        <button class="flat" aria-label={t("help.close")} onClick={() => (panel.value = "none")}>
          ✕
        </button>
      </div>
      {children}
    </aside>
  );
}

interface Shortcut {
  readonly keys: readonly string[];
  readonly word: Word;
}

function shortcuts(): readonly Shortcut[] {
  const drag = t("help.drag");
  const wheel = t("help.wheel");
  return [
    { keys: ["W", "S", `Ctrl + ${wheel}`], word: "help.zoom" },
    { keys: ["A", "D", "←", "→"], word: "help.pan" },
    { keys: [`Ctrl + ${drag}`, t("help.middle"), `Shift + ${wheel}`], word: "help.pan" },
    { keys: ["↑", "↓", wheel], word: "help.scroll" },
    { keys: [drag], word: "help.select" },
    { keys: [`Alt + ${drag}`], word: "help.selectZoom" },
    { keys: ["Shift + Z"], word: "help.zoomSelection" },
    { keys: ["M"], word: "help.rangeOfSlice" },
    { keys: ["F"], word: "help.fit" },
    { keys: ["Backspace"], word: "help.undo" },
    { keys: ["Ctrl + 0"], word: "help.reset" },
    { keys: ["Q"], word: "help.pane" },
    { keys: ["/"], word: "help.filter" },
    { keys: ["?"], word: "help.help" },
    { keys: ["Esc"], word: "help.escape" },
  ];
}

function Help() {
  return (
    <Panel title={t("help.title")}>
      <dl class="keys">
        {shortcuts().map((one, at) => (
          <div key={at}>
            <dt>{one.keys.map((key) => <kbd key={key}>{key}</kbd>)}</dt>
            <dd>{t(one.word)}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Switch({ on, label, note, change }: {
  on: boolean; label: string; note: string; change: (on: boolean) => void;
}) {
  return (
    <label class="setting">
      <input type="checkbox" checked={on}
        onChange={(event) => change(event.currentTarget.checked)} />
      <span>{label}<small>{note}</small></span>
    </label>
  );
}

function Choice<Key extends "theme" | "language">({ name, values }: {
  name: Key; values: readonly Settings[Key][];
}) {
  return (
    <fieldset class="choice">
      <legend>{t(`settings.${name}` as Word)}</legend>
      {values.map((value) => (
        <label key={value}>
          <input type="radio" name={name} checked={settings.value[name] === value}
            onChange={() => changeSettings({ [name]: value } as Partial<Settings>)} />
          {t(`settings.${name}.${value}` as Word)}
        </label>
      ))}
    </fieldset>
  );
}

function SettingsPanel() {
  const now = settings.value;
  return (
    <Panel title={t("settings.title")}>
      <Switch on={now.wheelZooms} label={t("settings.wheel")} note={t("settings.wheelNote")}
        change={(wheelZooms) => changeSettings({ wheelZooms })} />
      <Switch on={now.dense} label={t("settings.dense")} note={t("settings.denseNote")}
        change={(dense) => changeSettings({ dense })} />
      <Choice name="theme" values={["system", "light", "dark"]} />
      <Choice name="language" values={["system", "en", "zh"]} />
    </Panel>
  );
}

export interface OpenActions {
  open(paths: readonly string[]): Promise<void>;
  show(id: number): Promise<void>;
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

function OpenPanel({ actions }: { actions: OpenActions }) {
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    const paths = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
    if (paths.length === 0) return;
    setError("");
    actions.open(paths).catch((problem: unknown) => {
      setError(problem instanceof ApiError ? problem.body.message : String(problem));
    });
  };
  return (
    <Panel title={t("open.title")}>
      <form onSubmit={submit}>
        <label class="field">
          {t("open.path")}
          <textarea rows={3} spellcheck={false} placeholder={t("open.pathHint")} value={text}
            onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        {error !== "" && <p class="error" role="alert">{error}</p>}
        <button class="btn primary" type="submit">{t("open.go")}</button>
      </form>
      <OpenList show={(id) => void actions.show(id)} />
    </Panel>
  );
}

export function Panels({ actions }: { actions: OpenActions }) {
  switch (panel.value) {
    case "help": return <Help />;
    case "settings": return <SettingsPanel />;
    case "open": return <OpenPanel actions={actions} />;
    case "none": return null;
  }
}

import { changeSettings } from "../state/actions.ts";
import { panel, settings } from "../state/store.ts";
import type { Settings } from "../state/store.ts";
import { t } from "../state/words.ts";
import type { Word } from "../state/words.ts";
import { ClocksPanel } from "./Clocks.tsx";
import { OpenPanel } from "./OpenPanel.tsx";
import type { OpenActions } from "./OpenPanel.tsx";
import { Panel } from "./Panel.tsx";

/** Panels that slide in at the right: opening, clocks, settings, help. */

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
    { keys: ["Ctrl + F"], word: "help.find" },
    { keys: ["Ctrl + Enter"], word: "help.sql" },
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
      <p class="dim small"><a href="licenses.txt" target="_blank">{t("help.licenses")}</a></p>
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

export function Panels({ actions }: { actions: OpenActions }) {
  switch (panel.value) {
    case "help": return <Help />;
    case "settings": return <SettingsPanel />;
    case "clocks": return <ClocksPanel reopen={(how) => actions.reopen([], how)} />;
    case "open": return <OpenPanel actions={actions} />;
    case "sweep":
    case "none": return null;
  }
}

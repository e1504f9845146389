import { useSignal } from "@preact/signals";
import { formatCount } from "../../base/num.ts";
import { PRIMITIVES, experiments, formatSize } from "../../state/results.ts";
import { errorBody } from "../../state/resultsLoad.ts";
import { panel } from "../../state/store.ts";
import {
  DTYPES, MODES, MOST_RUNS, STEP_MODES, algorithmsFor, buildSpec, sizesOf, sweepForm,
} from "../../state/sweepForm.ts";
import type { SweepForm } from "../../state/sweepForm.ts";
import { sendSweep } from "../../state/tasks.ts";
import { t, tn } from "../../state/words.ts";
import type { Word } from "../../state/words.ts";
import { Panel } from "../Panel.tsx";
import { errorText } from "./text.ts";

/** The sweep form: a list in any field is swept, the product of all lists runs. */

function change(to: Partial<SweepForm>): void {
  sweepForm.value = { ...sweepForm.peek(), ...to };
}

function Checks({ legend, name, all, on, allowed, set }: {
  legend: Word; name: string; all: readonly string[]; on: readonly string[];
  allowed: readonly string[]; set: (list: readonly string[]) => void;
}) {
  return (
    <fieldset class="choice checks">
      <legend>{t(legend)}</legend>
      {all.map((one) => (
        <label key={one} class={allowed.includes(one) ? "" : "dim"}>
          <input type="checkbox" name={name} value={one} disabled={!allowed.includes(one)}
            checked={on.includes(one) && allowed.includes(one)}
            onChange={(event) => set(event.currentTarget.checked
              ? all.filter((other) => other === one || on.includes(other))
              : on.filter((other) => other !== one))} />
          {one}
        </label>
      ))}
    </fieldset>
  );
}

function Select({ id, label, value, options, set }: {
  id: string; label: Word; value: string; options: readonly string[];
  set: (value: string) => void;
}) {
  return (
    <label class="field">
      {t(label)}
      <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map((one) => <option key={one} value={one}>{one}</option>)}
      </select>
    </label>
  );
}

function Text({ id, label, value, set, list }: {
  id: string; label: Word; value: string; set: (value: string) => void; list?: string;
}) {
  return (
    <label class="field">
      {t(label)}
      <input id={id} type="text" spellcheck={false} autocomplete="off" value={value}
        {...(list === undefined ? {} : { list })}
        onInput={(event) => set(event.currentTarget.value)} />
    </label>
  );
}

function Sizes({ form }: { form: SweepForm }) {
  const sizes = sizesOf(form.sizeFrom, form.sizeTo, form.sizeFactor);
  return (
    <>
      <div class="three">
        <Text id="s-from" label="sweep.sizeFrom" value={form.sizeFrom}
          set={(sizeFrom) => change({ sizeFrom })} />
        <Text id="s-to" label="sweep.sizeTo" value={form.sizeTo}
          set={(sizeTo) => change({ sizeTo })} />
        <Text id="s-factor" label="sweep.factor" value={form.sizeFactor}
          set={(sizeFactor) => change({ sizeFactor })} />
      </div>
      <p class="dim small" id="s-sizes">
        {sizes === null ? t("sweep.problem.size") : sizes.map(formatSize).join(", ")}
      </p>
    </>
  );
}

function Fields({ form }: { form: SweepForm }) {
  return (
    <>
      <Text id="s-experiment" label="result.experiment" value={form.experiment} list="s-names"
        set={(experiment) => change({ experiment })} />
      <datalist id="s-names">
        {experiments.value.map((one) => <option key={one.id} value={one.name} />)}
      </datalist>
      <Checks legend="result.primitive" name="primitive" all={PRIMITIVES} allowed={PRIMITIVES}
        on={form.primitives} set={(primitives) => change({ primitives })} />
      <Checks legend="result.algorithm" name="algorithm"
        all={algorithmsFor([])} allowed={algorithmsFor(form.primitives)}
        on={form.algorithms} set={(algorithms) => change({ algorithms })} />
      <label class="field">
        {t("sweep.topologies")}
        <textarea id="s-topologies" rows={2} spellcheck={false} value={form.topologies}
          onInput={(event) => change({ topologies: event.currentTarget.value })} />
        <small class="dim">{t("sweep.topologiesNote")}</small>
      </label>
      <Sizes form={form} />
      <div class="three">
        <Select id="s-dtype" label="result.dtype" value={form.dtype} options={DTYPES}
          set={(dtype) => change({ dtype })} />
        <Select id="s-mode" label="sweep.mode" value={form.mode} options={MODES}
          set={(mode) => change({ mode })} />
        <Select id="s-step" label="sweep.stepMode" value={form.stepMode} options={STEP_MODES}
          set={(stepMode) => change({ stepMode })} />
      </div>
      <label class="field">
        {t("sweep.more")}
        <textarea id="s-more" rows={2} spellcheck={false} value={form.more}
          placeholder={'{"link": {"latency_ns": [100, 250]}}'}
          onInput={(event) => change({ more: event.currentTarget.value })} />
        <small class="dim">{t("sweep.moreNote")}</small>
      </label>
      <label class="setting">
        <input id="s-trace" type="checkbox" checked={form.trace}
          onChange={(event) => change({ trace: event.currentTarget.checked })} />
        <span>{t("sweep.trace")}<small>{t("sweep.traceNote")}</small></span>
      </label>
    </>
  );
}

export function SweepPanel() {
  const form = sweepForm.value;
  const error = useSignal("");
  const busy = useSignal(false);
  const built = buildSpec(form);
  const problem = "problem" in built ? t(`sweep.problem.${built.problem}`)
    : built.runs > MOST_RUNS ? t("sweep.tooMany", { most: formatCount(MOST_RUNS) }) : "";
  const submit = (event: Event): void => {
    event.preventDefault();
    if ("problem" in built || problem !== "" || busy.peek()) return;
    error.value = "";
    busy.value = true;
    sendSweep(form.experiment.trim(), built.spec).then(
      () => (panel.value = "none"),
      (failure: unknown) => (error.value = errorText(errorBody(failure))),
    ).finally(() => (busy.value = false));
  };
  return (
    <Panel title={t("sweep.title")}>
      <form class="sweep-form" onSubmit={submit}>
        <Fields form={form} />
        <p id="s-runs" class={problem === "" ? "dim" : "warn-text"}>
          {problem !== "" || "problem" in built ? problem : tn("sweep.runs", built.runs)}
        </p>
        {error.value !== "" && <p class="error" role="alert">{error.value}</p>}
        <div class="buttons">
          <button class="btn primary" id="s-start" type="submit"
            disabled={problem !== "" || busy.value}>{t("sweep.start")}</button>
        </div>
      </form>
    </Panel>
  );
}

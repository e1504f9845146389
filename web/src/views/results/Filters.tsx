import { useEffect, useState } from "preact/hooks";
import {
  ALGORITHMS, NO_LINK, PRIMITIVES, experiments, formatSize, parseSize, resultsLink,
} from "../../state/results.ts";
import type { ResultsLink } from "../../state/results.ts";
import { filterBy } from "../../state/resultsLoad.ts";
import { t } from "../../state/words.ts";

/** What narrows the list; curves and comparison follow it. */

/** A text is taken when its typing has rested so long, ms. */
const REST_MS = 250;

function Choice({ id, label, value, options, change }: {
  id: string; label: string; value: string; options: readonly (readonly [string, string])[];
  change: (value: string) => void;
}) {
  return (
    <select id={id} aria-label={label} title={label} value={value}
      onChange={(event) => change(event.currentTarget.value)}>
      <option value="">{label}</option>
      {options.map(([key, text]) => <option key={key} value={key}>{text}</option>)}
    </select>
  );
}

/** A text field whose value is taken after a rest; one that cannot be is marked. */
function Typed({ id, label, value, valid, take }: {
  id: string; label: string; value: string; valid: (text: string) => boolean;
  take: (text: string) => void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const bad = !valid(text);
  useEffect(() => {
    if (text === value || bad) return;
    const timer = window.setTimeout(() => take(text), REST_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return (
    <input id={id} type="search" spellcheck={false} placeholder={label} aria-label={label}
      title={bad ? t("results.badSize", { text }) : label} aria-invalid={bad} value={text}
      onInput={(event) => setText(event.currentTarget.value)} />
  );
}

const isSize = (text: string): boolean => text.trim() === "" || parseSize(text) !== null;
const sizeText = (bytes: number | null): string => (bytes === null ? "" : formatSize(bytes));
const sizeOf = (text: string): number | null => (text.trim() === "" ? null : parseSize(text));

function isFiltered(link: ResultsLink): boolean {
  return link.experiment !== null || link.primitive !== "" || link.algorithm !== ""
    || link.topology !== "" || link.sizeMin !== null || link.sizeMax !== null;
}

export function Filters() {
  const link = resultsLink.value;
  const names = (list: readonly string[]) => list.map((one) => [one, one] as const);
  return (
    <div class="filters" role="search" aria-label={t("results.filters")}>
      <Choice id="f-experiment" label={t("results.anyExperiment")}
        value={link.experiment === null ? "" : String(link.experiment)}
        options={experiments.value.map((one) => [String(one.id), `${one.name} (${one.results})`])}
        change={(value) => filterBy({ experiment: value === "" ? null : Number(value) })} />
      <Choice id="f-primitive" label={t("results.anyPrimitive")} value={link.primitive}
        options={names(PRIMITIVES)} change={(primitive) => filterBy({ primitive })} />
      <Choice id="f-algorithm" label={t("results.anyAlgorithm")} value={link.algorithm}
        options={names(ALGORITHMS)} change={(algorithm) => filterBy({ algorithm })} />
      <Typed id="f-topology" label={t("results.topology")} value={link.topology}
        valid={() => true} take={(topology) => filterBy({ topology })} />
      <Typed id="f-min" label={t("results.sizeMin")} value={sizeText(link.sizeMin)} valid={isSize}
        take={(text) => filterBy({ sizeMin: sizeOf(text) })} />
      <Typed id="f-max" label={t("results.sizeMax")} value={sizeText(link.sizeMax)} valid={isSize}
        take={(text) => filterBy({ sizeMax: sizeOf(text) })} />
      {isFiltered(link) && (
        <button class="flat" id="f-clear" onClick={() => filterBy({
          ...NO_LINK, result: link.result, picture: link.picture, group: link.group,
          sortBy: link.sortBy, ascending: link.ascending,
        })}>{t("results.clear")}</button>
      )}
    </div>
  );
}

import { batch, computed, effect } from "@preact/signals";
import { ApiError } from "../wire/types.ts";
import type { ApiErrorBody } from "../wire/types.ts";
import { evaluation } from "../wire/evaluation.ts";
import { goToPage, keepPageLink, page } from "./page.ts";
import {
  checkedResults, experiments, listQuery, results, resultsBusy, resultsError, resultsLink,
  resultsVersion, writeResultsLink,
} from "./results.ts";
import type { ResultsLink } from "./results.ts";

/** What the results page asks for, and every change that a user makes to its list. */

export function errorBody(problem: unknown): ApiErrorBody {
  if (problem instanceof ApiError) return problem.body;
  return { code: "page", message: problem instanceof Error ? problem.message : String(problem) };
}

export function isAborted(problem: unknown): boolean {
  return problem instanceof DOMException && problem.name === "AbortError";
}

/** Changes the link; `step` makes it one of its own for the browser's way back. */
export function changeLink(change: Partial<ResultsLink>, step = false): void {
  const next = { ...resultsLink.peek(), ...change };
  const link = writeResultsLink(next);
  keepPageLink("results", link);
  resultsLink.value = next;
  if (page.peek() !== "results" || step) goToPage("results", link);
  else history.replaceState(null, "", link);
}

/** Another filter or order begins at the first page. */
export function filterBy(change: Partial<ResultsLink>): void {
  changeLink({ ...change, page: 1 });
}

export function showResult(id: number | null): void {
  if (resultsLink.peek().result !== id) changeLink({ result: id }, true);
}

export function setCheckedResult(ids: readonly number[], on: boolean): void {
  const next = new Set(checkedResults.peek());
  for (const id of ids) {
    if (on) next.add(id);
    else next.delete(id);
  }
  checkedResults.value = next;
}

/** Removes results with their traces; those done before a failure stay removed. */
export async function removeResults(ids: readonly number[]): Promise<void> {
  const gone: number[] = [];
  try {
    for (const id of ids) {
      await evaluation.remove(id).catch((problem: unknown) => {
        // Somebody else was faster: what was wanted is so.
        if (!(problem instanceof ApiError && problem.status === 404)) throw problem;
      });
      gone.push(id);
    }
  } finally {
    batch(() => {
      setCheckedResult(gone, false);
      const shown = resultsLink.peek().result;
      if (shown !== null && gone.includes(shown)) changeLink({ result: null });
      resultsVersion.value++;
    });
  }
}

/** Only what the list depends on: a click on a row does not ask for it again. */
const listKey = computed(() => listQuery(resultsLink.value).toString());

/** Keeps the list in step with the link. Returns the way to stop. */
export function followResults(): () => void {
  let asked = new AbortController();
  const stop = effect(() => {
    const query = new URLSearchParams(listKey.value);
    void resultsVersion.value;
    asked.abort();
    const mine = asked = new AbortController();
    resultsBusy.value = true;
    evaluation.list(query, mine.signal).then((list) => {
      batch(() => {
        results.value = list;
        resultsError.value = null;
        resultsBusy.value = false;
      });
      // The last page may have gone with its rows.
      const last = Math.max(1, Math.ceil(list.total / list.page_size));
      if (list.page > last) changeLink({ page: last });
    }).catch((problem: unknown) => {
      if (isAborted(problem)) return;
      batch(() => {
        resultsError.value = errorBody(problem);
        resultsBusy.value = false;
      });
    });
  });
  const stopNames = effect(() => {
    void resultsVersion.value;
    evaluation.experiments().then((list) => (experiments.value = list), () => undefined);
  });
  return () => {
    stop();
    stopNames();
    asked.abort();
  };
}

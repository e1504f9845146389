import { tableFromIPC } from "apache-arrow";
import type { Answer, Question, WorkerReply, WorkerRequest } from "../wire/answers.ts";
import type { ApiErrorBody } from "../wire/types.ts";
import { decodeG, decodeR } from "./decodeTrace.ts";
import { readRows } from "./decodeSql.ts";
import { decodeSG, decodeSR } from "./decodeWindow.ts";
import type { LaneForms } from "./decodeWindow.ts";
import { transferables } from "./transfer.ts";

/** The decoding worker: fetches, decodes and pairs off the main thread. */

const running = new Map<number, AbortController>();
const scope = self as unknown as DedicatedWorkerGlobalScope;

function formsOf(question: Question): LaneForms {
  const steps = new Set(question.counters ?? []);
  const points = new Set(question.instants ?? []);
  return {
    formOf: (track) => (steps.has(track) ? "steps" : points.has(track) ? "density" : "bars"),
  };
}

function decode(bytes: Uint8Array, question: Question): Answer {
  const table = tableFromIPC(bytes);
  if (question.endpoint === "trace") {
    return question.buckets === null ? decodeR(table, question)
      : decodeG(table, question, question.buckets);
  }
  const forms = formsOf(question);
  return question.buckets === null ? decodeSR(table, question, forms, question.traceEnd)
    : decodeSG(table, question, question.buckets, forms);
}

async function readError(response: Response): Promise<ApiErrorBody> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as { error?: ApiErrorBody };
    if (body.error !== undefined) return body.error;
  } catch {
    // Not JSON: told below by its status.
  }
  return { code: "http", message: `${response.status} ${response.statusText}`.trim() };
}

async function ask(ticket: number, question: Question): Promise<void> {
  const abort = new AbortController();
  running.set(ticket, abort);
  const began = performance.now();
  const fail = (status: number, error: ApiErrorBody): void =>
    scope.postMessage({ type: "error", ticket, status, error } satisfies WorkerReply);
  try {
    const init: RequestInit = {
      signal: abort.signal, headers: { accept: "application/vnd.apache.arrow.stream" },
    };
    if (question.body !== null) {
      init.method = "POST";
      init.body = question.body;
      init.headers = { ...init.headers, "content-type": "application/json" };
    }
    const response = await fetch(question.url, init);
    if (!response.ok) return fail(response.status, await readError(response));
    const bytes = new Uint8Array(await response.arrayBuffer());
    const ms = performance.now() - began;
    const answer = decode(bytes, question);
    scope.postMessage(
      { type: "answer", ticket, answer, bytes: bytes.length, ms } satisfies WorkerReply,
      transferables(answer),
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof TypeError ? "network" : "decode";
    if (!abort.signal.aborted) fail(0, { code, message });
  } finally {
    running.delete(ticket);
  }
}

/** Runs a statement and hands over the first rows. */
async function query(ticket: number, url: string, sql: string): Promise<void> {
  const abort = new AbortController();
  running.set(ticket, abort);
  const fail = (status: number, error: ApiErrorBody): void =>
    scope.postMessage({ type: "error", ticket, status, error } satisfies WorkerReply);
  try {
    const response = await fetch(url, {
      method: "POST", body: JSON.stringify({ sql, format: "arrow" }), signal: abort.signal,
      headers: { "content-type": "application/json" },
    });
    if (!response.ok) return fail(response.status, await readError(response));
    const result = await readRows(response);
    scope.postMessage({ type: "rows", ticket, result } satisfies WorkerReply);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!abort.signal.aborted) fail(0, { code: "network", message });
  } finally {
    // A grid takes the first rows: the server need not make the others.
    abort.abort();
    running.delete(ticket);
  }
}

scope.onmessage = (event: MessageEvent<WorkerRequest>): void => {
  const request = event.data;
  if (request.type === "ask") void ask(request.ticket, request.question);
  else if (request.type === "query") void query(request.ticket, request.url, request.sql);
  else running.get(request.ticket)?.abort();
};

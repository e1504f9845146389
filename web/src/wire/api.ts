import { stringify } from "../base/json.ts";
import { ApiError } from "./types.ts";
import type {
  ApiErrorBody, Clocks, LaneRecord, SliceDetails, TraceInfo, TraceSummary,
} from "./types.ts";

/** JSON calls of the server. Each throws ApiError. */

export async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(new URL(path, document.baseURI), {
      ...init, headers: { accept: "application/json", ...init.headers },
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new ApiError({ code: "network", message }, 0);
  }
  const text = await response.text();
  let body: unknown = null;
  try {
    body = text === "" ? null : JSON.parse(text);
  } catch {
    if (response.ok) {
      throw new ApiError({ code: "json", message: "the answer is no JSON" }, response.status);
    }
  }
  if (!response.ok) {
    const told = (body as { error?: ApiErrorBody } | null)?.error;
    const message = `${response.status} ${response.statusText}`.trim();
    throw new ApiError(told ?? { code: "http", message }, response.status);
  }
  return body as T;
}

export function post<T>(path: string, body: object): Promise<T> {
  return call<T>(path, {
    method: "POST", body: stringify(body), headers: { "content-type": "application/json" },
  });
}

/** How files are put onto one timeline; what is absent is the server's default. */
export interface OpenHow {
  readonly manifest?: object;
  readonly align?: string;
}

function queryUrl(id: number): string {
  return new URL(`api/query?trace=${id}`, document.baseURI).href;
}

export const api = {
  queryUrl,

  /** The whole answer as CSV. */
  async csv(id: number, sql: string): Promise<Blob> {
    const response = await fetch(queryUrl(id), {
      method: "POST", body: JSON.stringify({ sql, format: "csv" }),
      headers: { "content-type": "application/json" },
    });
    if (response.ok) return response.blob();
    const body = (await response.json()) as { error: ApiErrorBody };
    throw new ApiError(body.error, response.status);
  },

  clocks(id: number): Promise<Clocks> {
    return call<Clocks>(`api/traces/${id}/clocks`);
  },

  close(id: number): Promise<unknown> {
    return call<unknown>(`api/traces/${id}`, { method: "DELETE" });
  },

  async traces(): Promise<readonly TraceSummary[]> {
    return (await call<{ traces: TraceSummary[] }>("api/traces")).traces;
  },

  async open(paths: readonly string[], how: OpenHow = {}): Promise<number> {
    return (await post<{ trace_id: number }>("api/traces", { paths, ...how })).trace_id;
  },

  /** Opens the trace of a result. */
  async openResult(result: number): Promise<number> {
    return (await post<{ trace_id: number }>("api/traces", { result })).trace_id;
  },

  trace(id: number): Promise<TraceInfo> {
    return call<TraceInfo>(`api/traces/${id}`);
  },

  async lanes(id: number): Promise<readonly LaneRecord[]> {
    return (await call<{ lanes: LaneRecord[] }>(`api/traces/${id}/lanes`)).lanes;
  },

  slice(id: number, track: string, slice: number, signal: AbortSignal): Promise<SliceDetails> {
    return call<SliceDetails>(`api/traces/${id}/slices/${track}/${slice}`, { signal });
  },

  /** Progress of opening traces; `changed` gets what the server sends. Returns the way to stop. */
  watch(changed: (summary: TraceSummary) => void): () => void {
    const source = new EventSource(new URL("api/traces/events", document.baseURI));
    const read = (event: MessageEvent<string>): void => {
      try {
        changed(JSON.parse(event.data) as TraceSummary);
      } catch {
        // A line we do not understand is not worth stopping for: the state is also polled.
      }
    };
    source.addEventListener("progress", read);
    source.onmessage = read;
    return () => source.close();
  },
};

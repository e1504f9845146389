import { signal } from "@preact/signals";
import type { Lane } from "../state/lanes.ts";
import type { ChunkKind } from "../state/chunks.ts";
import type { Answer } from "../wire/answers.ts";
import { ApiError } from "../wire/types.ts";
import type { ApiErrorBody } from "../wire/types.ts";
import type { DecoderClient } from "./client.ts";
import { makeQuestion } from "./questions.ts";
import { statsByLane, statsByName } from "./stats.ts";
import type { Part, RangeStats } from "./stats.ts";

/** Asks for the statistics of the selected range; the last selection wins. */

export type RangeState =
  | { readonly state: "none" }
  | { readonly state: "asking" }
  | { readonly state: "failed"; readonly error: ApiErrorBody }
  | { readonly state: "ready"; readonly stats: RangeStats };

export interface RangeInput {
  readonly traceId: number;
  readonly start: number;
  readonly end: number;
  readonly lanes: readonly Lane[];
  readonly traceEnd: number;
}

/** Lanes of one question: their ids fit a request line. */
const LANES_A_QUESTION = 2000;

export const rangeState = signal<RangeState>({ state: "none" });

function split(lanes: readonly Lane[]): { kind: ChunkKind; lanes: Lane[] }[] {
  const out: { kind: ChunkKind; lanes: Lane[] }[] = [];
  const open = new Map<ChunkKind, Lane[]>();
  for (const lane of lanes) {
    const kind: ChunkKind = lane.isEvent ? "trace" : lane.kind === "counter" ? "counter" : "window";
    let list = open.get(kind);
    if (list === undefined || list.length >= LANES_A_QUESTION) {
      list = [];
      open.set(kind, list);
      out.push({ kind, lanes: list });
    }
    list.push(lane);
  }
  return out;
}

export class RangeQuery {
  private tickets: number[] = [];
  private round = 0;

  constructor(private readonly client: DecoderClient) {}

  clear(): void {
    this.round++;
    for (const ticket of this.tickets) this.client.drop(ticket);
    this.tickets = [];
    rangeState.value = { state: "none" };
  }

  async ask(input: RangeInput): Promise<void> {
    this.clear();
    const round = this.round;
    rangeState.value = { state: "asking" };
    try {
      const stats = await this.read(input);
      if (round === this.round) rangeState.value = { state: "ready", stats };
    } catch (error) {
      if (round !== this.round) return;
      const body = error instanceof ApiError ? error.body
        : { code: "page", message: error instanceof Error ? error.message : String(error) };
      rangeState.value = { state: "failed", error: body };
    }
  }

  private async read(input: RangeInput): Promise<RangeStats> {
    try {
      return statsByName(await this.parts(input, true), input);
    } catch (error) {
      if (!(error instanceof ApiError) || error.body.code !== "too_many_rows") throw error;
      return statsByLane(await this.parts(input, false), input);
    }
  }

  private parts(input: RangeInput, raw: boolean): Promise<Part[]> {
    return Promise.all(split(input.lanes).map(async ({ kind, lanes }) => {
      const answer = await this.one(input, kind, lanes, raw && kind !== "counter" ? null : 1);
      return { answer, lanes };
    }));
  }

  private one(
    input: RangeInput, kind: ChunkKind, lanes: readonly Lane[], buckets: number | null,
  ): Promise<Answer> {
    const asked = this.client.promise(makeQuestion({
      traceId: input.traceId, kind, lanes, start: input.start, end: input.end, buckets,
      traceEnd: input.traceEnd, version: 0,
    }));
    this.tickets.push(asked.ticket);
    return asked.answer;
  }
}

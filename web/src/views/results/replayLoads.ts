import { batch, signal } from "@preact/signals";
import { clamp } from "../../base/num.ts";
import { replay } from "../../state/replay.ts";
import { errorBody } from "../../state/resultsLoad.ts";
import type { Topology } from "../../state/topology.ts";
import type { DecoderClient } from "../../tracks/client.ts";
import { eventKey } from "../../wire/answers.ts";
import type { Answer } from "../../wire/answers.ts";
import { evaluation } from "../../wire/evaluation.ts";
import type { ApiErrorBody } from "../../wire/types.ts";

/** The busy share of every link by bucket, from the aggregated window of the result's trace. */

export interface Frames {
  readonly start: number;
  readonly end: number;
  readonly buckets: number;
  /** By link of the topology; undefined where it was never busy. */
  readonly req: readonly (Float32Array | undefined)[];
  readonly rsp: readonly (Float32Array | undefined)[];
}

/** Rows of an answer, about: what a browser decodes without a pause. */
const MOST_ROWS = 200_000;
const MOST_BUCKETS = 300;
const LEAST_BUCKETS = 16;

export class ReplayLoads {
  readonly frames = signal<Frames | null>(null);
  /** What the picture shows; null: the whole run. */
  readonly bucket = signal<number | null>(null);
  readonly error = signal<ApiErrorBody | null>(null);
  /** Place of the play head in the window, 0..1. */
  share = 0;
  private ticket = 0;

  constructor(
    private readonly client: DecoderClient, private readonly result: number,
    private readonly topology: Topology | null,
  ) {}

  /** Time of the play head, ns. */
  get timeNs(): number {
    const now = this.frames.peek();
    return now === null ? 0 : now.start + this.share * (now.end - now.start);
  }

  /** Fetches the window if it is not here; whether it is now. */
  async load(start: number, end: number): Promise<boolean> {
    const { topology } = this;
    const have = this.frames.peek();
    if (have !== null && have.start === start && have.end === end) return true;
    if (topology === null || !(end > start)) return false;
    const buckets = clamp(
      Math.floor(MOST_ROWS / (2 * topology.links.length)), LEAST_BUCKETS, MOST_BUCKETS);
    const url = `${evaluation.traceUrl(this.result)}?start_ns=${start}&end_ns=${end}`
      + `&buckets=${buckets}&categories=link_busy`;
    this.error.value = null;
    const asked = this.client.promise({
      url, body: null, endpoint: "trace", start, end, buckets, traceEnd: end,
    });
    this.ticket = asked.ticket;
    try {
      this.frames.value = this.framesOf(await asked.answer, topology);
      return true;
    } catch (problem) {
      this.error.value = errorBody(problem);
      return false;
    }
  }

  private framesOf(answer: Answer, topology: Topology): Frames {
    const busy = (channel: string) => topology.links.map((link) => {
      const from = topology.nodes[link.from]!.name;
      const to = topology.nodes[link.to]!.name;
      const lane = answer.lanes.get(eventKey(`link_${from}_${to}_${channel}`, "link_busy"));
      return lane?.form === "cells" ? lane.rows[0]?.busy : undefined;
    });
    const { start, end, buckets } = answer;
    return { start, end, buckets, req: busy("req"), rsp: busy("rsp") };
  }

  seek(share: number): void {
    const now = this.frames.peek();
    if (now === null) return;
    this.share = clamp(share, 0, 1);
    batch(() => {
      this.bucket.value = Math.min(now.buckets - 1, Math.floor(this.share * now.buckets));
      replay.value = { result: this.result, at: this.timeNs };
    });
  }

  whole(): void {
    this.share = 0;
    this.bucket.value = null;
    replay.value = null;
  }

  stop(): void {
    if (this.ticket !== 0) this.client.drop(this.ticket);
  }
}

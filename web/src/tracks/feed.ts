import type { Chunk } from "../state/chunks.ts";
import type { Lane, Layout } from "../state/lanes.ts";
import { laneAt } from "../state/lanes.ts";
import { GroupScheduler } from "../state/scheduler.ts";
import type { Clock } from "../state/scheduler.ts";
import {
  AGGREGATED_ABOVE, RAW_BELOW, alignWindow, bucketsFor, estimateEvents, nextMode,
} from "../state/window.ts";
import type { Bounds, Mode, View } from "../state/window.ts";
import type { Answer, LaneData } from "../wire/answers.ts";
import type { Anomaly, ApiErrorBody } from "../wire/types.ts";
import { eventKey } from "../wire/answers.ts";
import type { DecoderClient, Timing } from "./client.ts";
import type { Scale } from "./paintCounter.ts";
import { densest } from "./paintPoints.ts";
import { makeQuestion } from "./questions.ts";
import type { Wanted } from "./questions.ts";
import { ColumnMap } from "./scene.ts";
import { covers, movingRows, movingWindow } from "./moving.ts";

/**
 * Keeps the answers that the canvas shows in step with the view.
 *
 * A view at rest is asked for exactly: one bucket a device pixel, or raw rows. A view in motion
 * is drawn from answers that are stretched; only when they no longer reach over the view, or
 * their cells have become coarse, is another asked for, wider than the view and of cells as
 * coarse as the rows of the lanes demand. So what a motion costs does not grow with the trace.
 */

export interface Slot {
  readonly chunk: Chunk;
  answer: Answer | null;
  /** Data keys that `answer` was asked for: an absent lane among them is empty there. */
  answered: ReadonlySet<string>;
  /** A wider, older answer, painted where `answer` does not reach. */
  under: Answer | null;
  error: ApiErrorBody | null;
  readonly map: ColumnMap;
  readonly underMap: ColumnMap;
  /** Lanes the next question asks for. */
  lanes: readonly Lane[];
  readonly set: Set<string>;
  setVersion: number;
  /** `setVersion` of the question that `answer` answers. */
  answeredVersion: number;
  /** Bytes that a bucket of the last aggregated answer took. */
  bytesPerBucket: number;
  /** When the question in flight was sent. */
  askedAt: number;
}

/** Share of the lower mark that a guess must stay under to switch to raw. */
const SURE = 0.6;
/** A view that has not changed for so long is at rest. */
export const REST_MS = 120;
/** An answer that takes longer shows a loading bar. */
const SLOW_MS = 150;

/** What of the page decides the questions. */
export interface FeedInput {
  readonly traceId: number;
  readonly view: View;
  readonly bounds: Bounds;
  readonly layout: Layout;
  readonly scrollTop: number;
  readonly height: number;
  readonly columns: number;
  readonly unchecked: ReadonlySet<string>;
}

export interface FeedOutput {
  /** New picture or new state: repaint, and tell the status line. */
  changed(): void;
  modeChanged(mode: Mode): void;
}

export class Feed {
  mode: Mode = "aggregated";
  /** Events of the chunks in view, as of the last complete set of answers. */
  events = 0;
  lastMs = 0;
  columns = 0;
  readonly anomalies = new Map<string, Anomaly>();
  private slots: Slot[] = [];
  private slotOfLane: (Slot | undefined)[] = [];
  private readonly scales = new Map<string, Scale>();
  private readonly densities = new WeakMap<LaneData, number>();
  private readonly scheduler: GroupScheduler<Wanted>;
  private readonly tickets = new Map<number, number>();
  private readonly visible = new Set<Slot>();
  private input: FeedInput | null = null;
  /** What the next guess of events in view is made from. */
  private guessEvents = 0;
  private guessSpan = 0;
  /** When the view last changed, and whether it changed more than once without a rest. */
  private changedAt = -Infinity;
  private inMotion = false;
  private restTimer: number | null = null;

  constructor(
    private readonly clock: Clock, private readonly client: DecoderClient,
    private readonly out: FeedOutput,
  ) {
    this.scheduler = new GroupScheduler<Wanted>(clock, {
      send: (group, ticket, wanted) => this.send(group, ticket, wanted),
      drop: (_, ticket) => this.client.drop(this.tickets.get(ticket) ?? -1),
    });
  }

  /** Another trace of so many events: forgets everything. A small one is asked raw at once. */
  reset(chunks: readonly Chunk[], lanes: number, events: number): void {
    this.scheduler.cancelAll();
    this.scales.clear();
    this.anomalies.clear();
    this.visible.clear();
    this.inMotion = false;
    this.changedAt = -Infinity;
    this.setMode(nextMode("aggregated", events));
    this.events = 0;
    this.guessEvents = 0;
    this.guessSpan = 0;
    this.slots = chunks.map((chunk) => ({
      chunk, answer: null, answered: new Set<string>(), under: null, error: null,
      map: new ColumnMap(), underMap: new ColumnMap(), lanes: [], set: new Set<string>(),
      setVersion: 0, answeredVersion: -1, bytesPerBucket: 0, askedAt: 0,
    }));
    this.slotOfLane = new Array<Slot | undefined>(lanes);
    for (const slot of this.slots) {
      for (const lane of slot.chunk.lanes) this.slotOfLane[lane.index] = slot;
    }
  }

  slotOf(lane: Lane): Slot | undefined {
    return this.slotOfLane[lane.index];
  }

  dataOf(lane: Lane): LaneData | undefined {
    return this.slotOf(lane)?.answer?.lanes.get(lane.dataKey);
  }

  busy(slot: Slot): boolean {
    return this.scheduler.busy(slot.chunk.id);
  }

  /**
   * Whether an answer has been outstanding long enough to say so. While the view moves there is
   * always one on its way: only lanes that have nothing to show say it then.
   */
  slow(slot: Slot): boolean {
    if (!this.busy(slot) || (this.inMotion && slot.answer !== null)) return false;
    return this.clock.now() - slot.askedAt > SLOW_MS;
  }

  get anyBusy(): boolean {
    return this.inMotion || this.scheduler.anyBusy;
  }

  /** Whether the view is changing from frame to frame. */
  get moving(): boolean {
    return this.inMotion;
  }

  get allSlots(): readonly Slot[] {
    return this.slots;
  }

  /** Scale of a lane: grows with what is seen, so that panning does not make it jump. */
  scaleOf(lane: Lane): Scale {
    let scale = this.scales.get(lane.dataKey);
    if (scale === undefined) this.scales.set(lane.dataKey, (scale = { low: 0, high: 0 }));
    return scale;
  }

  densityOf(data: Extract<LaneData, { form: "density" }>): number {
    let most = this.densities.get(data);
    if (most === undefined) this.densities.set(data, (most = densest(data)));
    return most;
  }

  retry(slot: Slot): void {
    slot.error = null;
    this.scheduler.forget(slot.chunk.id);
    this.ask();
    this.out.changed();
  }

  /** The view or the lanes changed. */
  update(input: FeedInput): void {
    const before = this.input;
    this.input = input;
    if (this.mode === "raw" && before !== null && input.view.span > this.guessSpan
      && this.guess(input.view.span) > AGGREGATED_ABOVE) {
      this.setMode("aggregated");
    }
    if (before !== null && before.view !== input.view) this.moved();
    this.ask();
  }

  /** The view changed: soon after another change, that is a motion, which ends with a rest. */
  private moved(): void {
    const now = this.clock.now();
    if (now - this.changedAt < REST_MS) this.inMotion = true;
    this.changedAt = now;
    if (this.inMotion && this.restTimer === null) this.awaitRest(REST_MS);
  }

  private awaitRest(ms: number): void {
    this.restTimer = this.clock.later(ms, () => {
      this.restTimer = null;
      const left = this.changedAt + REST_MS - this.clock.now();
      if (left > 0) return this.awaitRest(left);
      this.inMotion = false;
      this.ask();
      this.out.changed();
    });
  }

  /** Events that a window of this width is guessed to hold. */
  private guess(span: number): number {
    return estimateEvents(this.guessEvents, this.guessSpan, span);
  }

  private setMode(mode: Mode): void {
    if (mode === this.mode) return;
    this.mode = mode;
    this.out.modeChanged(mode);
  }

  private ask(): void {
    const input = this.input;
    if (input === null || input.columns < 2 || input.layout.lanes.length === 0) return;
    this.chooseLanes(input);
    const whole = bucketsFor(input.columns);
    const exact = alignWindow(input.view, whole);
    for (const slot of this.visible) {
      const raw = this.mode === "raw" && slot.chunk.kind !== "counter";
      let window = exact;
      if (this.inMotion) {
        if (this.stillCovers(slot, raw, input.view, input.columns)) {
          this.scheduler.unwant(slot.chunk.id);
          continue;
        }
        window = raw ? movingRows(input.view, whole, this.guess(input.view.span))
          : movingWindow(input.view, whole, slot.bytesPerBucket);
      }
      const buckets = raw ? null : window.buckets;
      const key = `${buckets}|${window.start}|${window.width}|${slot.setVersion}`;
      this.scheduler.want(slot.chunk.id, key, {
        traceId: input.traceId, kind: slot.chunk.kind, lanes: slot.lanes,
        start: window.start, end: window.end, buckets, traceEnd: input.bounds.end,
        version: slot.setVersion,
      });
    }
  }

  /** Whether what a slot shows will do while the view moves. */
  private stillCovers(slot: Slot, raw: boolean, view: View, columns: number): boolean {
    const { answer } = slot;
    if (answer === null || slot.answeredVersion !== slot.setVersion) return false;
    if ((answer.mode === "raw") !== raw) return false;
    return covers(answer, view, columns);
  }

  /** Collects the lanes on screen by chunk; a chunk's set changes only when it must. */
  private chooseLanes(input: FeedInput): void {
    const { layout, scrollTop, height } = input;
    this.visible.clear();
    const stale = new Set<Slot>();
    for (const slot of this.slots) {
      if (slot.lanes.some((lane) => input.unchecked.has(lane.key))) stale.add(slot);
    }
    this.eachLane(layout, scrollTop, scrollTop + height, input.unchecked, (lane, slot) => {
      this.visible.add(slot);
      if (!slot.set.has(lane.dataKey)) stale.add(slot);
    });
    if (stale.size === 0) return;
    const fresh = new Map<Slot, Lane[]>([...stale].map((slot) => [slot, []]));
    this.eachLane(layout, scrollTop - height / 2, scrollTop + height * 1.5, input.unchecked,
      (lane, slot) => fresh.get(slot)?.push(lane));
    for (const [slot, lanes] of fresh) {
      slot.lanes = lanes;
      slot.set.clear();
      for (const lane of lanes) slot.set.add(lane.dataKey);
      slot.setVersion++;
    }
  }

  private eachLane(
    layout: Layout, from: number, to: number, unchecked: ReadonlySet<string>,
    visit: (lane: Lane, slot: Slot) => void,
  ): void {
    for (let at = Math.max(0, laneAt(layout, Math.max(0, from))); at < layout.lanes.length; at++) {
      if (layout.top[at]! >= to) break;
      const lane = layout.lanes[at]!;
      const slot = this.slotOfLane[lane.index];
      if (slot !== undefined && !unchecked.has(lane.key)) visit(lane, slot);
    }
  }

  private send(group: number, ticket: number, wanted: Wanted): void {
    const slot = this.slots[group];
    if (slot === undefined) return;
    const asked = new Set(wanted.lanes.map((lane) => lane.dataKey));
    const sent = this.client.ask(makeQuestion(wanted), (answer, error, timing) => {
      this.tickets.delete(ticket);
      if (!this.scheduler.settled(group, ticket)) return;
      if (answer !== null) {
        slot.answeredVersion = wanted.version;
        this.accept(slot, answer, asked, timing);
      }
      if (error !== null) this.refuse(slot, error.body);
    });
    this.tickets.set(ticket, sent);
    slot.askedAt = this.clock.now();
    this.clock.later(SLOW_MS + 20, () => {
      if (this.slow(slot)) this.out.changed();
    });
    this.out.changed();
  }

  private accept(slot: Slot, answer: Answer, asked: ReadonlySet<string>, timing: Timing): void {
    const old = slot.answer;
    const span = (one: Answer): number => one.end - one.start;
    if (old !== null && (slot.under === null || span(old) > span(slot.under))) slot.under = old;
    if (slot.under !== null && answer.start <= slot.under.start && answer.end >= slot.under.end) {
      slot.under = null;
    }
    slot.answer = answer;
    slot.answered = asked;
    slot.error = null;
    if (answer.buckets > 0) slot.bytesPerBucket = timing.bytes / answer.buckets;
    this.lastMs = timing.ms;
    this.columns = answer.buckets === 0 ? this.columns : answer.buckets;
    for (const one of answer.anomalies) {
      this.anomalies.set(eventKey(one.component, one.category), one);
    }
    this.learnScales(answer);
    this.settle();
    this.out.changed();
  }

  private learnScales(answer: Answer): void {
    for (const [key, data] of answer.lanes) {
      if (data.form !== "steps" && data.form !== "points") continue;
      let scale = this.scales.get(key);
      if (scale === undefined) this.scales.set(key, (scale = { low: 0, high: 0 }));
      if (data.form === "steps") {
        scale.low = Math.min(scale.low, data.low);
        scale.high = Math.max(scale.high, data.high);
        continue;
      }
      for (let at = 0; at < data.value.length; at++) {
        const value = data.value[at]!;
        if (value < scale.low) scale.low = value;
        if (value > scale.high) scale.high = value;
      }
    }
  }

  private refuse(slot: Slot, error: ApiErrorBody): void {
    if (error.code === "too_many_rows" && this.mode === "raw") {
      this.setMode("aggregated");
      this.ask();
      return;
    }
    slot.error = error;
    this.out.changed();
  }

  /** Counts what is in view and chooses the mode. */
  private settle(): void {
    if (this.input === null) return;
    const { span } = this.input.view;
    const moving = this.anyBusy;
    let events = 0;
    for (const { chunk, answer } of this.visible) {
      if (chunk.kind === "counter") continue;
      if (answer === null) return;
      events += moving ? estimateEvents(answer.events, answer.end - answer.start, span)
        : answer.events;
    }
    this.guessEvents = events;
    this.guessSpan = span;
    if (moving) {
      // A view that does not rest is judged by a guess, so with a wide margin.
      if (this.mode === "aggregated" && events < RAW_BELOW * SURE) this.change("raw");
      return;
    }
    this.events = events;
    this.change(nextMode(this.mode, events));
  }

  private change(mode: Mode): void {
    if (mode === this.mode) return;
    this.setMode(mode);
    this.ask();
  }
}

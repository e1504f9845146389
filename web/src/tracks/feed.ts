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

/** Keeps the answers that the canvas shows in step with the view. */

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
  /** When the question in flight was sent. */
  askedAt: number;
}

/** Share of the lower mark that a guess must stay under to switch to raw. */
const SURE = 0.6;
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
  private eventsSpan = 0;

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
    this.setMode(nextMode("aggregated", events));
    this.events = 0;
    this.eventsSpan = 0;
    this.slots = chunks.map((chunk) => ({
      chunk, answer: null, answered: new Set<string>(), under: null, error: null,
      map: new ColumnMap(), underMap: new ColumnMap(), lanes: [], set: new Set<string>(),
      setVersion: 0, askedAt: 0,
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

  /** Whether an answer has been outstanding long enough to say so. */
  slow(slot: Slot): boolean {
    return this.busy(slot) && this.clock.now() - slot.askedAt > SLOW_MS;
  }

  get anyBusy(): boolean {
    return this.scheduler.anyBusy;
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
    if (this.mode === "raw" && before !== null && input.view.span > this.eventsSpan
      && estimateEvents(this.events, this.eventsSpan, input.view.span) > AGGREGATED_ABOVE) {
      this.setMode("aggregated");
    }
    this.ask();
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
    const aligned = alignWindow(input.view, bucketsFor(input.columns));
    for (const slot of this.visible) {
      const raw = this.mode === "raw" && slot.chunk.kind !== "counter";
      const buckets = raw ? null : aligned.buckets;
      const key = `${buckets}|${aligned.start}|${aligned.width}|${slot.setVersion}`;
      this.scheduler.want(slot.chunk.id, key, {
        traceId: input.traceId, kind: slot.chunk.kind, lanes: slot.lanes,
        start: aligned.start, end: aligned.end, buckets, traceEnd: input.bounds.end,
      });
    }
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
      if (answer !== null) this.accept(slot, answer, asked, timing);
      else if (error !== null) this.refuse(slot, error.body);
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
    const moving = this.scheduler.anyBusy;
    let events = 0;
    for (const { chunk, answer } of this.visible) {
      if (chunk.kind === "counter") continue;
      if (answer === null) return;
      events += moving ? estimateEvents(answer.events, answer.end - answer.start, span)
        : answer.events;
    }
    if (moving) {
      // A view that does not rest is judged by a guess, so with a wide margin.
      if (this.mode === "aggregated" && events < RAW_BELOW * SURE) this.change("raw");
      return;
    }
    this.events = events;
    this.eventsSpan = span;
    this.change(nextMode(this.mode, events));
  }

  private change(mode: Mode): void {
    if (mode === this.mode) return;
    this.setMode(mode);
    this.ask();
  }
}

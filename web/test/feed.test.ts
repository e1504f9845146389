import { describe, expect, test } from "vitest";
import { makeChunks } from "../src/state/chunks.ts";
import { buildTree, layOut } from "../src/state/lanes.ts";
import type { Mode } from "../src/state/window.ts";
import { DecoderClient } from "../src/tracks/client.ts";
import type { Port } from "../src/tracks/client.ts";
import { Feed } from "../src/tracks/feed.ts";
import { movingRows, movingWindow } from "../src/tracks/moving.ts";
import { makeQuestion } from "../src/tracks/questions.ts";
import type { Answer, Question, WorkerReply, WorkerRequest } from "../src/wire/answers.ts";
import type { ApiErrorBody, LaneRecord } from "../src/wire/types.ts";

/** A worker that answers when told. */
class FakePort implements Port {
  onmessage: ((event: MessageEvent<WorkerReply>) => void) | null = null;
  asked: { ticket: number; question: Question }[] = [];

  postMessage(request: WorkerRequest): void {
    if (request.type === "ask") this.asked.push(request);
  }

  answer(events: number, bytes = 0): void {
    const open = this.asked.splice(0);
    for (const { ticket, question } of open) {
      const answer: Answer = {
        mode: question.buckets === null ? "raw" : "aggregated", start: question.start,
        end: question.end, buckets: question.buckets ?? 0, events, names: [], categories: [],
        lanes: new Map(), anomalies: [], details: null, values: null,
      };
      this.reply({ type: "answer", ticket, answer, bytes, ms: 1 });
    }
  }

  refuse(error: ApiErrorBody): void {
    for (const { ticket } of this.asked.splice(0)) {
      this.reply({ type: "error", ticket, status: 400, error });
    }
  }

  private reply(data: WorkerReply): void {
    this.onmessage?.({ data } as MessageEvent<WorkerReply>);
  }
}

const records: LaneRecord[] = [
  { id: 1, parent: null, kind: "slices", name: "a", rows: 1 },
  { id: 2, parent: null, kind: "slices", name: "b", rows: 1 },
  { id: 3, parent: null, kind: "counter", name: "c" },
];

function setUp(events = Infinity) {
  let now = 0;
  const timers: { at: number; run: () => void }[] = [];
  const clock = {
    now: () => now,
    later: (ms: number, run: () => void) => timers.push({ at: now + ms, run }),
    cancel: (timer: number) => void (timers[timer - 1]!.at = Infinity),
  };
  const port = new FakePort();
  const modes: Mode[] = [];
  const feed = new Feed(clock, new DecoderClient(port), {
    changed: () => undefined, modeChanged: (mode) => modes.push(mode),
  });
  const tree = buildTree(records);
  feed.reset(makeChunks(tree), tree.lanes.length, events);
  const show = (span: number, unchecked: string[] = []): void => feed.update({
    traceId: 1, view: { start: 0, span }, bounds: { start: 0, end: 1e6 },
    layout: layOut(tree, new Set(), "", false), scrollTop: 0, height: 400, columns: 100,
    unchecked: new Set(unchecked),
  });
  const frame = (): void => void (now += 16);
  const rest = (): void => {
    now += 1000;
    for (const timer of timers) {
      if (timer.at > now) continue;
      timer.at = Infinity;
      timer.run();
    }
  };
  return { port, feed, modes, show, rest, frame };
}

const windowOf = (port: FakePort): Question | undefined =>
  port.asked.find((one) => (one.question.counters?.length ?? 0) === 0)?.question;

describe("feed", () => {
  test("asks once for what is on screen, counters apart and always aggregated", () => {
    const { port, show } = setUp();
    show(1e6);
    expect(port.asked.length).toBe(2);
    expect(windowOf(port)?.url).toContain("tracks=1,2&");
    expect(windowOf(port)?.buckets).toBe(100);
  });
  test("a small trace is asked raw at once", () => {
    const { port, modes, show } = setUp(50_000);
    show(1e6);
    expect(modes).toEqual(["raw"]);
    expect(windowOf(port)?.buckets).toBeNull();
  });
  test("few events: raw; the counters stay aggregated", () => {
    const { port, modes, show, rest } = setUp();
    show(1e6);
    port.answer(20_000);
    rest();
    expect(modes).toEqual(["raw"]);
    expect(port.asked.length).toBe(1);
    expect(windowOf(port)?.buckets).toBeNull();
  });
  test("zooming out of raw over the upper mark goes to aggregated before asking", () => {
    const { port, modes, show, rest } = setUp();
    show(1e5);
    port.answer(20_000);
    rest();
    port.answer(20_000);
    show(1e6);
    rest();
    expect(modes).toEqual(["raw", "aggregated"]);
    expect(windowOf(port)?.buckets).toBe(100);
  });
  test("too many rows switches silently", () => {
    const { port, feed, modes, show, rest } = setUp();
    show(1e5);
    port.answer(20_000);
    rest();
    port.refuse({ code: "too_many_rows", message: "", limit: 100000, rows: 200000 });
    rest();
    expect(modes).toEqual(["raw", "aggregated"]);
    expect(feed.allSlots.every((slot) => slot.error === null)).toBe(true);
    expect(windowOf(port)?.buckets).toBe(100);
  });
  test("another error stays on its lanes, keeps the picture, and can be retried", () => {
    const { port, feed, show, rest } = setUp();
    show(1e6);
    port.answer(200_000);
    const before = feed.allSlots.map((slot) => slot.answer);
    show(5e5);
    rest();
    port.refuse({ code: "internal", message: "boom" });
    expect(feed.allSlots.map((slot) => slot.error?.message)).toEqual(["boom", "boom"]);
    expect(feed.allSlots.map((slot) => slot.answer)).toEqual(before);
    feed.retry(feed.allSlots[0]!);
    rest();
    expect(port.asked.length).toBe(1);
    port.answer(200_000);
    expect(feed.allSlots[0]!.error).toBeNull();
  });
  test("an unchecked lane is no longer asked for", () => {
    const { port, show, rest } = setUp();
    show(1e6);
    port.answer(200_000);
    show(1e6, ["t2"]);
    rest();
    expect(windowOf(port)?.url).toContain("tracks=1&");
  });
  test("the wider picture stays under the new one", () => {
    const { port, feed, show, rest } = setUp();
    show(1e6);
    port.answer(200_000);
    const wide = feed.allSlots[0]!.answer;
    show(1e5);
    rest();
    port.answer(200_000);
    expect(feed.allSlots[0]!.under).toBe(wide);
    show(1e6);
    rest();
    port.answer(200_000);
    expect(feed.allSlots[0]!.under).toBeNull();
  });
  test("an unchanged view asks nothing more", () => {
    const { port, show, rest } = setUp();
    show(1e6);
    port.answer(200_000);
    show(1e6);
    rest();
    expect(port.asked.length).toBe(0);
  });
});

describe("motion", () => {
  test("a moving view is asked for wide and coarse, a resting one exactly", () => {
    const { port, feed, show, rest, frame } = setUp();
    show(1e6);
    port.answer(1e6, 1e6);
    rest();
    for (const span of [5e5, 4e5, 3e5, 2e5, 1e5, 5e4, 3e4]) {
      frame();
      show(span);
    }
    expect(feed.moving).toBe(true);
    expect(feed.anyBusy).toBe(true);
    // The first change is answered as a single step would be, the motion waits behind it.
    expect(windowOf(port)?.buckets).toBe(100);
    port.answer(1e6, 1e6);
    rest();
    const last = windowOf(port)!;
    expect(last.buckets).toBeLessThanOrEqual(100);
    port.answer(1e6, 1e6);
    rest();
    rest();
    expect(feed.moving).toBe(false);
    const exact = windowOf(port) ?? last;
    expect(exact.buckets).toBe(100);
    expect(exact.end - exact.start).toBeLessThan(3.2e4);
    port.answer(1e6);
    rest();
    expect(feed.anyBusy).toBe(false);
    expect(port.asked.length).toBe(0);
  });
  test("nothing is asked while what is there reaches over the view", () => {
    const { port, feed, show, rest, frame } = setUp();
    show(1e6);
    port.answer(1e6);
    rest();
    show(9e5);
    port.answer(1e6);
    for (const span of [8.9e5, 8.5e5, 8e5, 7e5, 5e5]) {
      frame();
      show(span);
    }
    expect(feed.moving).toBe(true);
    expect(port.asked.length).toBe(0);
  });
  test("cells are as coarse as the bytes of a bucket demand, and no coarser than a sixth", () => {
    const view = { start: 1000, span: 1200 };
    const fine = movingWindow(view, 1200, 10);
    expect(fine.buckets).toBe(1200);
    const heavy = movingWindow(view, 1200, 1e6);
    expect(heavy.buckets).toBe(400);
    for (const one of [fine, heavy]) {
      expect(one.start).toBeLessThanOrEqual(view.start);
      expect(one.end).toBeGreaterThanOrEqual(view.start + view.span);
    }
  });
  test("raw rows around a moving view stay under the mark", () => {
    const view = { start: 1000, span: 1000 };
    const wide = movingRows(view, 100, 1000);
    expect(wide.end - wide.start).toBeGreaterThan(1999);
    const dense = movingRows(view, 100, 50_000);
    expect(dense.end - dense.start).toBeLessThan(1050);
  });
});

describe("questions", () => {
  const events = buildTree([
    { id: 1, parent: null, kind: "interval", name: "x", component: "link_a,b_c_req",
      category: "link_busy" },
    { id: 2, parent: null, kind: "instant", name: "y", component: "flow_0_1",
      category: "hop_arrive" },
  ]);
  const base = { traceId: 7, kind: "trace" as const, start: 0.5, end: 1e21, traceEnd: 0, version: 0 };
  test("both members of a pair, commas of an id encoded", () => {
    const { url, body } = makeQuestion({ ...base, lanes: events.lanes, buckets: 10 });
    expect(url).toContain("/api/traces/7/trace?start_ns=0.5&end_ns=1e+21");
    expect(url).toContain("categories=link_busy,link_idle,hop_arrive");
    expect(url).toContain("components=link_a%2Cb_c_req,flow_0_1");
    expect(url).toContain("buckets=10&extra=minmax");
    expect(body).toBeNull();
  });
  test("a selection too long for a URL goes into the body", () => {
    const many = buildTree(Array.from({ length: 5000 }, (_, at): LaneRecord => ({
      id: at, parent: null, kind: "interval", name: "x", category: "link_busy",
      component: `link_${at}_${at}_req`,
    })));
    const { url, body } = makeQuestion({ ...base, lanes: many.lanes, buckets: null });
    expect(url).not.toContain("?");
    const told = JSON.parse(body ?? "") as { components: string[]; buckets?: number };
    expect(told.components.length).toBe(5000);
    expect(told.buckets).toBeUndefined();
  });
});

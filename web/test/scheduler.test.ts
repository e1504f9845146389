import { describe, expect, test } from "vitest";
import { DEBOUNCE_MS, GroupScheduler, MAX_WAIT_MS } from "../src/state/scheduler.ts";
import type { Clock } from "../src/state/scheduler.ts";

/** A clock that moves when told. */
class FakeClock implements Clock {
  private time = 0;
  private next = 1;
  private readonly due = new Map<number, { at: number; run: () => void }>();

  now(): number {
    return this.time;
  }

  later(ms: number, run: () => void): number {
    this.due.set(this.next, { at: this.time + ms, run });
    return this.next++;
  }

  cancel(timer: number): void {
    this.due.delete(timer);
  }

  advance(ms: number): void {
    const until = this.time + ms;
    for (;;) {
      const ready = [...this.due].filter(([, one]) => one.at <= until)
        .sort((a, b) => a[1].at - b[1].at)[0];
      if (ready === undefined) break;
      this.due.delete(ready[0]);
      this.time = Math.max(this.time, ready[1].at);
      ready[1].run();
    }
    this.time = until;
  }
}

interface Sent { group: number; ticket: number; question: string }

function setUp() {
  const clock = new FakeClock();
  const sent: Sent[] = [];
  const dropped: number[] = [];
  const scheduler = new GroupScheduler<string>(clock, {
    send: (group, ticket, question) => sent.push({ group, ticket, question }),
    drop: (_, ticket) => dropped.push(ticket),
  });
  return { clock, sent, dropped, scheduler };
}

describe("request scheduler", () => {
  test("ten zooms within 2 s send at most two questions a group while none is answered", () => {
    const { clock, sent, scheduler } = setUp();
    for (let step = 0; step < 10; step++) {
      for (const group of [0, 1, 2]) scheduler.want(group, `zoom ${step}`, `zoom ${step}`);
      clock.advance(200);
    }
    for (const group of [0, 1, 2]) {
      expect(sent.filter((one) => one.group === group).length).toBeLessThanOrEqual(2);
    }
  });
  test("with quick answers: at most two beyond those answered, the last is the last view", () => {
    const { clock, sent, scheduler } = setUp();
    let answered = 0;
    for (let step = 0; step < 10; step++) {
      scheduler.want(0, `zoom ${step}`, `zoom ${step}`);
      clock.advance(200);
      for (const one of sent.slice(answered)) {
        scheduler.settled(0, one.ticket);
        answered++;
      }
      expect(sent.length).toBeLessThanOrEqual(answered + 2);
    }
    clock.advance(1000);
    for (const one of sent.slice(answered)) scheduler.settled(0, one.ticket);
    expect(sent.at(-1)?.question).toBe("zoom 9");
    const total = sent.length;
    clock.advance(60_000);
    expect(sent.length).toBe(total);
    expect(scheduler.busy(0)).toBe(false);
  });
  test("the first question after rest is sent at once", () => {
    const { sent, scheduler } = setUp();
    scheduler.want(0, "a", "a");
    expect(sent.length).toBe(1);
  });
  test("the same wish again is not sent again", () => {
    const { clock, sent, scheduler } = setUp();
    scheduler.want(0, "a", "a");
    scheduler.settled(0, sent[0]!.ticket);
    scheduler.want(0, "a", "a");
    clock.advance(1000);
    expect(sent.length).toBe(1);
  });
  test("going back to what is in flight sends nothing more", () => {
    const { clock, sent, scheduler } = setUp();
    scheduler.want(0, "a", "a");
    scheduler.want(0, "b", "b");
    scheduler.want(0, "a", "a");
    scheduler.settled(0, sent[0]!.ticket);
    clock.advance(1000);
    expect(sent.map((one) => one.question)).toEqual(["a"]);
  });
  test("a view that never rests is still served", () => {
    const { clock, sent, scheduler } = setUp();
    scheduler.want(0, "0", "0");
    scheduler.settled(0, sent[0]!.ticket);
    for (let ms = 16; ms < MAX_WAIT_MS + 2 * DEBOUNCE_MS; ms += 16) {
      scheduler.want(0, String(ms), String(ms));
      clock.advance(16);
    }
    expect(sent.length).toBeGreaterThanOrEqual(2);
  });
  test("a stale answer is told apart, a cancelled question is dropped", () => {
    const { sent, dropped, scheduler } = setUp();
    scheduler.want(0, "a", "a");
    scheduler.cancel(0);
    expect(dropped).toEqual([sent[0]!.ticket]);
    expect(scheduler.settled(0, sent[0]!.ticket)).toBe(false);
    scheduler.want(0, "a", "a");
    expect(scheduler.settled(0, sent[0]!.ticket)).toBe(false);
    expect(scheduler.settled(0, sent[1]!.ticket)).toBe(true);
  });
  test("retry sends the same wish again", () => {
    const { sent, scheduler } = setUp();
    scheduler.want(0, "a", "a");
    scheduler.settled(0, sent[0]!.ticket);
    scheduler.forget(0);
    scheduler.want(0, "a", "a");
    // Sent at rest or after the quiet time: either way it is wanted again.
    expect(scheduler.busy(0)).toBe(true);
  });
  test("a wish taken back is not sent, and the same wish counts as new", () => {
    const { clock, sent, scheduler } = setUp();
    scheduler.want(0, "a", "a");
    scheduler.want(0, "b", "b");
    scheduler.unwant(0);
    scheduler.settled(0, 1);
    clock.advance(1000);
    expect(sent.map((one) => one.question)).toEqual(["a"]);
    expect(scheduler.anyBusy).toBe(false);
    scheduler.want(0, "b", "b");
    expect(sent.map((one) => one.question)).toEqual(["a", "b"]);
  });
});

/**
 * Sends the questions of a changing view: per lane group one in flight, the
 * latest wish waits, everything between is never sent. Times come from
 * outside, so tests drive it with a clock of their own.
 */

export interface Clock {
  now(): number;
  later(ms: number, run: () => void): number;
  cancel(timer: number): void;
}

export interface Sender<Question> {
  /** Starts a question; the answer is reported by `settled(group, ticket)`. */
  send(group: number, ticket: number, question: Question): void;
  /** Gives up an answer nobody needs any more. */
  drop(group: number, ticket: number): void;
}

interface Slot<Question> {
  key: string;
  question: Question | null;
  timer: number | null;
  ticket: number | null;
  sentKey: string;
  lastSent: number;
  /** When the wish that now waits first came up. */
  wishedAt: number;
}

/** Quiet time before a question is sent while the view keeps changing, ms. */
export const DEBOUNCE_MS = 80;
/** A view that never rests is still asked for this often, ms. */
export const MAX_WAIT_MS = 240;

export class GroupScheduler<Question> {
  private readonly slots = new Map<number, Slot<Question>>();
  private tickets = 0;

  constructor(private readonly clock: Clock, private readonly sender: Sender<Question>) {}

  /** What the group should show now; the same key again changes nothing. */
  want(group: number, key: string, question: Question): void {
    const slot = this.slot(group);
    if (slot.key === key) return;
    slot.key = key;
    if (slot.ticket !== null && slot.sentKey === key) {
      slot.question = null;
      this.stopTimer(slot);
      return;
    }
    if (slot.question === null) slot.wishedAt = this.clock.now();
    slot.question = question;
    if (slot.ticket !== null) return;
    const quiet = this.clock.now() - slot.lastSent;
    if (slot.timer === null && quiet >= DEBOUNCE_MS) this.send(group, slot);
    else this.restart(group, slot);
  }

  /** Takes back a wish that waits: what is shown will do. The next wish is a new one. */
  unwant(group: number): void {
    const slot = this.slots.get(group);
    if (slot === undefined) return;
    slot.question = null;
    slot.key = slot.ticket === null ? "" : slot.sentKey;
    this.stopTimer(slot);
  }

  /** Whether the ticket is the one in flight; frees the group for the next question. */
  settled(group: number, ticket: number): boolean {
    const slot = this.slots.get(group);
    if (slot === undefined || slot.ticket !== ticket) return false;
    slot.ticket = null;
    if (slot.question !== null) this.restart(group, slot);
    return true;
  }

  /** Gives up whatever is in flight or waiting (another trace, another selection). */
  cancel(group: number): void {
    const slot = this.slots.get(group);
    if (slot === undefined) return;
    this.stopTimer(slot);
    if (slot.ticket !== null) this.sender.drop(group, slot.ticket);
    this.slots.delete(group);
  }

  cancelAll(): void {
    for (const group of [...this.slots.keys()]) this.cancel(group);
  }

  /** Forgets the last key, so that the next wish is sent even if it is the same (retry). */
  forget(group: number): void {
    const slot = this.slots.get(group);
    if (slot !== undefined && slot.ticket === null) slot.key = "";
  }

  /** True while an answer or a send is outstanding. */
  busy(group: number): boolean {
    const slot = this.slots.get(group);
    return slot !== undefined && (slot.ticket !== null || slot.question !== null);
  }

  get anyBusy(): boolean {
    for (const group of this.slots.keys()) if (this.busy(group)) return true;
    return false;
  }

  private slot(group: number): Slot<Question> {
    let slot = this.slots.get(group);
    if (slot === undefined) {
      slot = {
        key: "", question: null, timer: null, ticket: null, sentKey: "", lastSent: -Infinity,
        wishedAt: 0,
      };
      this.slots.set(group, slot);
    }
    return slot;
  }

  private stopTimer(slot: Slot<Question>): void {
    if (slot.timer !== null) this.clock.cancel(slot.timer);
    slot.timer = null;
  }

  private restart(group: number, slot: Slot<Question>): void {
    this.stopTimer(slot);
    const left = slot.wishedAt + MAX_WAIT_MS - this.clock.now();
    const wait = Math.max(0, Math.min(DEBOUNCE_MS, left));
    slot.timer = this.clock.later(wait, () => {
      slot.timer = null;
      if (slot.question !== null && slot.ticket === null) this.send(group, slot);
    });
  }

  private send(group: number, slot: Slot<Question>): void {
    const question = slot.question;
    if (question === null) return;
    slot.question = null;
    slot.ticket = ++this.tickets;
    slot.sentKey = slot.key;
    slot.lastSent = this.clock.now();
    this.sender.send(group, slot.ticket, question);
  }
}

import type { Answer, Question, WorkerReply, WorkerRequest } from "../wire/answers.ts";
import type { SqlResult } from "../wire/sql.ts";
import { ApiError } from "../wire/types.ts";

/** The page's side of the decoding worker. */

export interface Timing {
  readonly bytes: number;
  readonly ms: number;
}

export interface Port {
  postMessage(request: WorkerRequest): void;
  onmessage: ((event: MessageEvent<WorkerReply>) => void) | null;
}

type Done = (answer: Answer | null, error: ApiError | null, timing: Timing) => void;
interface Rows {
  resolve(result: SqlResult): void;
  reject(error: ApiError): void;
}
const NO_TIMING: Timing = { bytes: 0, ms: 0 };

export class DecoderClient {
  private readonly waiting = new Map<number, Done>();
  private readonly queries = new Map<number, Rows>();
  private tickets = 0;

  constructor(private readonly port: Port) {
    port.onmessage = (event) => this.reply(event.data);
  }

  /** Asks; `done` is called once, never after `drop`. */
  ask(question: Question, done: Done): number {
    const ticket = ++this.tickets;
    this.waiting.set(ticket, done);
    this.port.postMessage({ type: "ask", ticket, question });
    return ticket;
  }

  /** Runs a statement; the promise of a dropped one is never settled. */
  query(url: string, sql: string): { readonly ticket: number; readonly rows: Promise<SqlResult> } {
    const ticket = ++this.tickets;
    const rows = new Promise<SqlResult>((resolve, reject) => {
      this.queries.set(ticket, { resolve, reject });
    });
    this.port.postMessage({ type: "query", ticket, url, sql });
    return { ticket, rows };
  }

  drop(ticket: number): void {
    if (this.queries.delete(ticket)) this.port.postMessage({ type: "drop", ticket });
    if (this.waiting.delete(ticket)) this.port.postMessage({ type: "drop", ticket });
  }

  promise(question: Question): { readonly ticket: number; readonly answer: Promise<Answer> } {
    let ticket = 0;
    const answer = new Promise<Answer>((resolve, reject) => {
      ticket = this.ask(question, (got, error) => {
        if (got !== null) resolve(got);
        else reject(error ?? new Error("no answer"));
      });
    });
    return { ticket, answer };
  }

  private reply(reply: WorkerReply): void {
    const rows = this.queries.get(reply.ticket);
    if (rows !== undefined) {
      this.queries.delete(reply.ticket);
      if (reply.type === "rows") rows.resolve(reply.result);
      else if (reply.type === "error") rows.reject(new ApiError(reply.error, reply.status));
      return;
    }
    const done = this.waiting.get(reply.ticket);
    if (done === undefined) return;
    this.waiting.delete(reply.ticket);
    if (reply.type === "answer") {
      done(reply.answer, null, { bytes: reply.bytes, ms: reply.ms });
    } else if (reply.type === "error") {
      done(null, new ApiError(reply.error, reply.status), NO_TIMING);
    }
  }
}

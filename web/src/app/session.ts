import { batch, effect } from "@preact/signals";
import { Stale, frames } from "../render/frame.ts";
import { clampView } from "../state/window.ts";
import type { Bounds } from "../state/window.ts";
import { forgetHistory } from "../state/actions.ts";
import { buildTree, EMPTY_TREE, groupByMachine } from "../state/lanes.ts";
import {
  answersVersion, bounds, chunks, clocks, folded, limits, mode, pageError, panel, picked, scrollTop,
  selection, status, tab, trace, tree, unchecked, view,
} from "../state/store.ts";
import type { Tab } from "../state/store.ts";
import { goToPage, keepPageLink, page, pageOf } from "../state/page.ts";
import { readResultsLink, resultsLink } from "../state/results.ts";
import { readSessionsLink, sessionsLink } from "../state/sessions.ts";
import { tracesOfResults } from "../state/replay.ts";
import { readLink, writeLink } from "../state/url.ts";
import type { LinkState } from "../state/url.ts";
import { DecoderClient } from "../tracks/client.ts";
import { Feed } from "../tracks/feed.ts";
import { t } from "../state/words.ts";
import { api } from "../wire/api.ts";
import type { OpenHow } from "../wire/api.ts";
import { ApiError } from "../wire/types.ts";
import type { Clocks, TraceInfo, TraceSummary } from "../wire/types.ts";

/** Joins the parts: opens traces, follows their state, keeps the link. */

/** While opening, the state is asked for this often should no event arrive, ms. */
const POLL_MS = 400;
/** The link is written when the view has rested so long: each writing is a message, ms. */
const LINK_DELAY_MS = 250;
/** Answers of several groups come close together: the texts are told once for all, ms. */
const TELL_MS = 50;
/** The same while the view moves: lane notes and counts can wait, frames cannot. */
const TELL_MOVING_MS = 400;
const TABS: readonly string[] = ["detail", "list", "find", "sql", "losses"] satisfies Tab[];

export function makeFeed(): { feed: Feed; client: DecoderClient } {
  const worker = new Worker(new URL("../tracks/worker.ts", import.meta.url), { type: "module" });
  const client = new DecoderClient(worker);
  const clock = {
    now: () => performance.now(),
    later: (ms: number, run: () => void) => window.setTimeout(run, ms),
    cancel: (timer: number) => window.clearTimeout(timer),
  };
  let telling = 0;
  const tell = (): void => {
    telling = 0;
    status.value = {
      events: feed.events, columns: feed.columns, ms: feed.lastMs, busy: feed.anyBusy,
    };
    answersVersion.value++;
  };
  const feed: Feed = new Feed(clock, client, {
    changed: () => {
      frames.invalidate(Stale.Full);
      if (telling === 0) {
        telling = window.setTimeout(tell, feed.moving ? TELL_MOVING_MS : TELL_MS);
      }
    },
    modeChanged: (next) => (mode.value = next),
  });
  return { feed, client };
}

/** Rows that a raw window over everything would hold; Infinity where the server does not say. */
function eventCount(info: TraceInfo): number {
  const { counts } = info;
  if (counts === undefined) return Infinity;
  return (counts["slice"] ?? 0) + (counts["instant"] ?? 0) + (counts["event"] ?? 0);
}

function machineName(how: Clocks | null, machine: number): string {
  const known = how?.clocks.find((one) => one.machine_id === machine && one.machine !== null);
  return known?.machine ?? (machine === 0 ? t("tree.host") : t("tree.machine", { n: machine }));
}

export class Session {
  private link: LinkState = readLink(location.hash);
  private stopWatch: (() => void) | null = null;
  private poll = 0;
  private shownId = -1;
  /** Origin that the window on screen counts from, while another trace takes its place. */
  private carried: bigint | null = null;
  /** The trace that the one being opened takes the place of. */
  private replaced = -1;

  constructor(private readonly feed: Feed) {}

  start(): void {
    if (page.peek() === "results") this.readResults();
    if (page.peek() === "sessions") this.readSessions();
    this.keepLink();
    window.addEventListener("hashchange", () => this.hashChanged());
    void this.connect();
  }

  /** First contact, and every retry after a failure. */
  async connect(): Promise<void> {
    pageError.value = null;
    try {
      const list = await api.traces();
      const wanted = list.find((one) => one.trace_id === this.link.trace) ?? list.at(-1);
      if (wanted === undefined) {
        trace.value = null;
        if (page.peek() === "timeline") panel.value = "open";
      } else await this.follow(wanted.trace_id);
    } catch (error) {
      this.fail(error);
    }
  }

  async open(paths: readonly string[], how: OpenHow = {}): Promise<void> {
    const id = await api.open(paths, how);
    this.link = { ...readLink(""), trace: id };
    panel.value = "none";
    goToPage("timeline");
    await this.follow(id);
  }

  /** Shows the trace of a result on the timeline; one that is open already is not opened anew. */
  async openResult(id: number): Promise<void> {
    const known = tracesOfResults.peek().get(id);
    const list = await api.traces();
    const open = list.some((one) => one.trace_id === known && one.state !== "failed");
    const trace = known !== undefined && open ? known : await api.openResult(id);
    tracesOfResults.value = new Map(tracesOfResults.peek()).set(id, trace);
    if (trace === this.shownId) goToPage("timeline");
    else await this.show(trace);
  }

  /**
   * Opens the files of the trace on screen together with others, or anew with other clocks, in
   * its place: the window stays at the same absolute time.
   */
  async reopen(more: readonly string[], how: OpenHow): Promise<void> {
    const old = trace.peek();
    if (old === null || old.state !== "ready") return this.open(more, how);
    const paths = [...new Set([...this.given, ...more])];
    const id = await api.open(paths, how);
    // The link rests a while before it is written: what the last moments changed is carried too.
    goToPage("timeline");
    this.writeNow();
    this.link = { ...readLink(location.hash), trace: id, selection: null, picked: null };
    this.carried = BigInt(old.bounds?.origin_ns ?? "0");
    this.replaced = old.trace_id;
    panel.value = "none";
    await this.follow(id);
  }

  /** Shows another open trace from its beginning. */
  async show(id: number): Promise<void> {
    this.link = { ...readLink(""), trace: id };
    this.shownId = -1;
    panel.value = "none";
    goToPage("timeline", writeLink(this.link));
    await this.follow(id);
  }

  /** The paths that were opened: a manifest goes apart, members of archives came by themselves. */
  private get given(): readonly string[] {
    const files = trace.peek()?.files ?? [];
    const all = files.filter((file) => !(file.format ?? "").endsWith("manifest")).map((file) => file.path);
    return all.filter((path) => !all.some((other) => path.startsWith(`${other}/`)));
  }

  private async follow(id: number): Promise<void> {
    try {
      const info = await api.trace(id);
      trace.value = info;
      if (info.state === "opening") this.watchOpening(id);
      else {
        this.endWatch();
        if (info.state === "ready") await this.ready(info);
      }
    } catch (error) {
      this.fail(error);
    }
  }

  private watchOpening(id: number): void {
    window.clearTimeout(this.poll);
    this.poll = window.setTimeout(() => void this.follow(id), POLL_MS);
    if (this.stopWatch !== null) return;
    this.stopWatch = api.watch((summary: TraceSummary) => {
      if (summary.trace_id !== id) return;
      if (summary.state !== "opening") void this.follow(id);
      else if (trace.peek()?.state === "opening") trace.value = { ...trace.peek()!, ...summary };
    });
  }

  private endWatch(): void {
    window.clearTimeout(this.poll);
    this.stopWatch?.();
    this.stopWatch = null;
  }

  private async ready(info: TraceInfo): Promise<void> {
    if (this.shownId === info.trace_id) return;
    this.shownId = info.trace_id;
    const [records, how] = await Promise.all([
      api.lanes(info.trace_id), api.clocks(info.trace_id).catch(() => null),
    ]);
    const range = info.view ?? info.bounds ?? { start_ns: 0, end_ns: 1 };
    const end = Math.max(range.end_ns, range.start_ns + 1);
    const start = range.start_ns;
    const all = {
      start: Math.min(start, info.bounds?.start_ns ?? start),
      end: Math.max(end, info.bounds?.end_ns ?? end),
    };
    const link = this.carriedLink(info, all);
    batch(() => {
      clocks.value = how;
      bounds.value = { start, end };
      limits.value = all;
      const first = link.view ?? { start, span: end - start };
      view.value = clampView(first, all);
      folded.value = new Set(link.folded);
      unchecked.value = new Set(link.unchecked);
      selection.value = link.selection;
      picked.value = null;
      scrollTop.value = 0;
      if (link.tab !== null && TABS.includes(link.tab)) tab.value = link.tab as Tab;
      tree.value = EMPTY_TREE;
      const next = buildTree(groupByMachine(records, (machine) => machineName(how, machine)));
      tree.value = next;
      this.feed.reset(chunks.value, next.lanes.length, eventCount(info));
    });
    forgetHistory();
    this.restorePicked(link);
    if (this.replaced >= 0) void api.close(this.replaced).catch(() => undefined);
    this.replaced = -1;
  }

  /**
   * The link; in another's place with the window on screen, counted from this trace's origin,
   * unless nothing is there any more.
   */
  private carriedLink(info: TraceInfo, all: Bounds): LinkState {
    const { link, carried } = this;
    this.carried = null;
    if (carried === null) return link;
    const shift = Number(carried - BigInt(info.bounds?.origin_ns ?? "0"));
    const start = view.peek().start + shift;
    const { span } = view.peek();
    const gone = start > all.end || start + span < all.start || span > 10 * (all.end - all.start);
    return { ...link, view: gone ? null : { start, span } };
  }

  /** A link names a slice by lane and id; the data pane reads the rest from the server. */
  private restorePicked(link: LinkState): void {
    const want = link.picked;
    if (want === null) return;
    const lane = tree.peek().lanes.find((one) => one.key === want.lane);
    if (lane === undefined || lane.isEvent) return;
    picked.value = {
      lane: lane.key, id: want.id, start: want.at, end: want.at, row: 0, name: "", facts: [],
      detailJson: null,
    };
  }

  private readResults(): void {
    keepPageLink("results", location.hash);
    resultsLink.value = readResultsLink(location.hash);
  }

  private readSessions(): void {
    keepPageLink("sessions", location.hash);
    sessionsLink.value = readSessionsLink(location.hash);
  }

  private hashChanged(): void {
    const to = pageOf(location.hash);
    if (to !== page.peek()) panel.value = "none";
    if (to === "results") this.readResults();
    if (to === "sessions") this.readSessions();
    page.value = to;
    if (to !== "timeline") return;
    const next = readLink(location.hash);
    if (writeLink(next) === this.written) return;
    this.link = next;
    if (next.trace !== null && next.trace !== trace.peek()?.trace_id) {
      this.shownId = -1;
      void this.follow(next.trace);
    } else if (next.view !== null) view.value = clampView(next.view, limits.peek());
  }

  private written = "";

  private keepLink(): void {
    let timer = 0;
    let changed = 0;
    const later = (ms: number): void => {
      timer = window.setTimeout(() => {
        timer = 0;
        const left = changed + LINK_DELAY_MS - performance.now();
        if (left > 1) later(left);
        else this.writeNow();
      }, ms);
    };
    effect(() => {
      void [
        trace.value, view.value, folded.value, unchecked.value, selection.value, picked.value,
        tab.value, page.value,
      ];
      changed = performance.now();
      if (timer === 0) later(LINK_DELAY_MS);
    });
  }

  private writeNow(): void {
    const info = trace.peek();
    if (page.peek() !== "timeline") return;
    if (info === null || info.state !== "ready" || tree.peek().lanes.length === 0) return;
    const slice = picked.peek();
    this.written = writeLink({
      trace: info.trace_id, view: view.peek(), folded: [...folded.peek()],
      unchecked: [...unchecked.peek()], selection: selection.peek(),
      picked: slice === null || slice.id === null ? null
        : { lane: slice.lane, id: slice.id, at: slice.start },
      tab: tab.peek(),
    });
    keepPageLink("timeline", this.written);
    history.replaceState(null, "", this.written);
  }

  private fail(error: unknown): void {
    this.endWatch();
    pageError.value = error instanceof ApiError ? error.body
      : { code: "page", message: error instanceof Error ? error.message : String(error) };
  }
}

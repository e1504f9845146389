import { effect } from "@preact/signals";
import { render } from "preact";
import { frames } from "../render/frame.ts";
import { loadSettings } from "../state/actions.ts";
import { followPicked } from "../state/details.ts";
import { selection, tab, trace, tree, unchecked, layout, limits, view } from "../state/store.ts";
import type { DecoderClient } from "../tracks/client.ts";
import { RangeQuery } from "../tracks/rangeQuery.ts";
import { listenDrops } from "../views/OpenPanel.tsx";
import { listenKeys } from "../views/keys.ts";
import type { Stage } from "../views/stage.ts";
import { App, followSettings } from "./App.tsx";
import { Session, makeFeed } from "./session.ts";
import "./page.css";

const RANGE_DELAY_MS = 60;

/** A new selection, or other lanes under it, asks for its statistics. */
function followSelection(client: DecoderClient): void {
  const query = new RangeQuery(client);
  let timer = 0;
  effect(() => {
    const range = selection.value;
    const off = unchecked.value;
    const lanes = layout.value.lanes.filter((lane) => lane.kind !== "group" && !off.has(lane.key));
    const id = trace.value?.trace_id;
    window.clearTimeout(timer);
    if (range === null || id === undefined || tree.value.leaves === 0) {
      query.clear();
      return;
    }
    timer = window.setTimeout(() => void query.ask({
      traceId: id, start: range.start, end: range.end, lanes, traceEnd: limits.peek().end,
    }), RANGE_DELAY_MS);
  });
  let had = false;
  effect(() => {
    const has = selection.value !== null;
    if (has && !had) tab.value = "list";
    had = has;
  });
}

/** Handles for the page tests and the frame probe. */
interface Probe {
  frames: typeof frames;
  view: typeof view;
  busy(): boolean;
  stage: Stage | null;
}

declare global {
  interface Window {
    meridian?: Probe;
  }
}

function start(): void {
  loadSettings();
  followSettings();
  const { feed, client } = makeFeed();
  const session = new Session(feed);
  const probe: Probe = { frames, view, busy: () => feed.anyBusy, stage: null };
  window.meridian = probe;
  const root = document.getElementById("app");
  if (root === null) return;
  const onStage = (stage: Stage): void => {
    probe.stage = stage;
  };
  render(<App feed={feed} client={client} session={session} onStage={onStage} />, root);
  followSelection(client);
  followPicked();
  listenKeys(window, () => document.getElementById("lane-filter")?.focus());
  listenDrops(window, session);
  session.start();
}

start();

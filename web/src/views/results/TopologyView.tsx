import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { formatShare } from "../../base/num.ts";
import { formatDuration } from "../../base/time.ts";
import { page } from "../../state/page.ts";
import { replay, tracesOfResults } from "../../state/replay.ts";
import { settings, trace, view } from "../../state/store.ts";
import { CHANNELS, loadOf, readTopology } from "../../state/topology.ts";
import type { Channel, Topology } from "../../state/topology.ts";
import { t } from "../../state/words.ts";
import type { DecoderClient } from "../../tracks/client.ts";
import type { ResultDetails } from "../../wire/evaluation.ts";
import { ReplayLoads } from "./replayLoads.ts";
import type { Frames } from "./replayLoads.ts";
import { layOutScene, linkAt, loadColor, paintTopology } from "./paintTopology.ts";
import type { TopoColors, TopoScene } from "./paintTopology.ts";
import { errorText } from "./text.ts";

/** The network of a run, coloured by the load of its links over the run or at a time of it. */

/** A replay of the whole window takes so long, ms. */
const REPLAY_MS = 9000;
/** Links told beside the picture. */
const BUSIEST = 8;

const channel = signal<Channel>("larger");

function readColors(): TopoColors {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string): string => style.getPropertyValue(name).trim();
  return {
    bg: get("--bg"), line: get("--line"), ink: get("--ink"), ink2: get("--ink2"),
    bad: get("--bad"), acc: get("--acc"), font: get("--sans"),
  };
}

interface Load {
  readonly req: number;
  readonly rsp: number;
}

/** Loads at a bucket of the replay, else of the whole run. */
function loadsAt(
  topology: Topology, frames: Frames | null, bucket: number | null,
): readonly Load[] {
  if (frames === null || bucket === null) return topology.links;
  return topology.links.map((_, at) => ({
    req: frames.req[at]?.[bucket] ?? 0, rsp: frames.rsp[at]?.[bucket] ?? 0,
  }));
}

function Canvas({ topology, loads, late, hovered, hover }: {
  topology: Topology; loads: readonly number[]; late: ReadonlySet<number>; hovered: number;
  hover: (link: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSignal({ width: 0, height: 0 });
  const dark = useSignal(0);
  useEffect(() => {
    const box = canvas.current!.parentElement!;
    const observer = new ResizeObserver(() => {
      size.value = { width: box.clientWidth, height: box.clientHeight };
    });
    observer.observe(box);
    const system = matchMedia("(prefers-color-scheme: dark)");
    const changed = (): void => void dark.value++;
    system.addEventListener("change", changed);
    return () => {
      observer.disconnect();
      system.removeEventListener("change", changed);
    };
  }, []);
  const { width, height } = size.value;
  const scene = useMemo((): TopoScene | null =>
    (width > 0 && height > 0 ? layOutScene(topology, width, height) : null),
  [topology, width, height]);
  const { theme } = settings.value;
  const colors = useMemo(readColors, [theme, dark.value]);
  useEffect(() => {
    const context = canvas.current!.getContext("2d");
    if (context !== null && scene !== null) {
      paintTopology(context, scene, loads, late, colors, hovered);
    }
  }, [scene, loads, late, colors, hovered]);
  const ratio = devicePixelRatio;
  return (
    <div class="topo-box">
      <canvas ref={canvas} width={Math.round(width * ratio)} height={Math.round(height * ratio)}
        style={{ width: `${width}px`, height: `${height}px` }} role="img"
        aria-label={t("topo.label")}
        onPointerMove={(event) => {
          if (scene !== null) hover(linkAt(scene, event.offsetX, event.offsetY));
        }}
        onPointerLeave={() => hover(-1)} />
    </div>
  );
}

function Busiest({ topology, loads, hovered, hover }: {
  topology: Topology; loads: readonly Load[]; hovered: number; hover: (link: number) => void;
}) {
  const now = channel.value;
  const order = topology.links.map((_, at) => at)
    .sort((a, b) => loadOf(loads[b]!, now) - loadOf(loads[a]!, now)).slice(0, BUSIEST);
  const shown = hovered >= 0 && !order.includes(hovered) ? [...order.slice(0, -1), hovered] : order;
  const background = getComputedStyle(document.documentElement).getPropertyValue("--bg").trim();
  return (
    <table class="busiest">
      <thead>
        <tr>
          <th class="left"><b>{t("topo.link")}</b></th><th><b>REQ</b></th><th><b>RSP</b></th>
        </tr>
      </thead>
      <tbody>
        {shown.map((at) => {
          const link = topology.links[at]!;
          const load = loads[at]!;
          const name = `${topology.nodes[link.from]!.name} → ${topology.nodes[link.to]!.name}`;
          return (
            <tr key={at} class={at === hovered ? "on" : ""} data-link={name}
              data-load={loadOf(load, now)}
              onPointerEnter={() => hover(at)} onPointerLeave={() => hover(-1)}>
              <td class="left">
                <i class="dot" style={{ background: loadColor(loadOf(load, now), background) }} />
                {name}
              </td>
              <td>{formatShare(load.req)}</td><td>{formatShare(load.rsp)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Head() {
  return (
    <div class="sub-head">
      <h3>{t("topo.title")}</h3>
      <select id="topo-channel" aria-label={t("topo.channel")} value={channel.value}
        onChange={(event) => (channel.value = event.currentTarget.value as Channel)}>
        {CHANNELS.map((one) => <option key={one} value={one}>{t(`topo.${one}`)}</option>)}
      </select>
      <span class="scale" aria-hidden="true">
        0 %<i />100 %
      </span>
    </div>
  );
}

/** The window of the timeline where this result's trace is on it, else the whole run. */
function windowOf(
  row: ResultDetails, topology: Topology,
): { readonly start: number; readonly end: number; readonly own: boolean } {
  const mine = tracesOfResults.value.get(row.id);
  const open = trace.value;
  if (mine !== undefined && open?.trace_id === mine && open.state === "ready") {
    const { start, span } = view.value;
    const low = Math.max(0, start);
    const high = Math.min(topology.runNs, start + span);
    const part = low > 0 || high < topology.runNs;
    if (high > low && part) return { start: low, end: high, own: false };
  }
  return { start: 0, end: topology.runNs, own: true };
}

function Controls({ row, topology, loads }: {
  row: ResultDetails; topology: Topology; loads: ReplayLoads;
}) {
  const playing = useSignal(false);
  const window = windowOf(row, topology);
  const frames = loads.frames.value;
  const bucket = loads.bucket.value;
  const seek = async (to: number): Promise<void> => {
    await loads.load(window.start, window.end);
    loads.seek(to);
  };
  useEffect(() => {
    if (!playing.value || frames === null) return;
    let from: number | null = null;
    const first = loads.share;
    let asked = 0;
    const step = (now: number): void => {
      from ??= now;
      const share = (first >= 1 ? 0 : first) + (now - from) / REPLAY_MS;
      loads.seek(Math.min(1, share));
      if (share >= 1) playing.value = false;
      else asked = requestAnimationFrame(step);
    };
    asked = requestAnimationFrame(step);
    return () => cancelAnimationFrame(asked);
  }, [playing.value, frames]);
  const at = bucket === null ? null : loads.share;
  const time = at === null ? t("topo.wholeRun")
    : t("topo.at", { time: formatDuration(loads.timeNs, 4), all: formatDuration(topology.runNs, 4) });
  return (
    <div class="replay">
      <button class="btn tiny" id="replay-play" disabled={!row.has_trace}
        title={row.has_trace ? "" : t("result.noTrace")}
        onClick={() => {
          if (playing.value) playing.value = false;
          else void loads.load(window.start, window.end).then((ok) => (playing.value = ok));
        }}>{playing.value ? t("topo.pause") : t("topo.play")}</button>
      <input id="replay-at" type="range" min={0} max={1} step="any" value={at ?? 0}
        disabled={!row.has_trace} aria-label={t("topo.time")} aria-valuetext={time}
        onInput={(event) => {
          playing.value = false;
          void seek(Number(event.currentTarget.value));
        }} />
      <span class="replay-time" id="replay-time">{time}</span>
      {bucket !== null && (
        <button class="flat" id="replay-whole" onClick={() => {
          playing.value = false;
          loads.whole();
        }}>{t("topo.showWhole")}</button>
      )}
      {!window.own && <span class="dim small">{t("topo.ofTimeline")}</span>}
      {!row.has_trace && <span class="dim small">{t("topo.noReplay")}</span>}
      {loads.error.value !== null && (
        <span class="error small" role="alert">{errorText(loads.error.value)}</span>
      )}
    </div>
  );
}

export function TopologyView({ row, client }: { row: ResultDetails; client: DecoderClient }) {
  const topology = useMemo(() => readTopology(row.stats ?? {}, row.topology_name ?? ""), [row]);
  const late = useMemo(() => new Set((row.per_chip_summary ?? [])
    .filter((chip) => chip.is_straggler).map((chip) => chip.chip_id)), [row]);
  const loads = useMemo(() => new ReplayLoads(client, row.id, topology), [row, topology, client]);
  useEffect(() => {
    const kept = replay.peek();
    if (kept?.result === row.id && topology !== null) {
      const { start, end } = windowOf(row, topology);
      void loads.load(start, end).then(() => loads.seek((kept.at - start) / (end - start)));
    }
    return () => {
      loads.stop();
      // The timeline shows the play head too.
      if (page.peek() === "results") replay.value = null;
    };
  }, [loads]);
  const hovered = useSignal(-1);
  const frames = loads.frames.value;
  const bucket = loads.bucket.value;
  const now = useMemo(() => (topology === null ? [] : loadsAt(topology, frames, bucket)),
    [topology, frames, bucket]);
  const kind = channel.value;
  const shares = useMemo(() => now.map((one) => loadOf(one, kind)), [now, kind]);
  if (topology === null) return <p class="empty">{t("topo.none")}</p>;
  const hover = (link: number): void => void (hovered.value = link);
  return (
    <section class="topology" aria-label={t("topo.title")} data-bucket={bucket ?? "whole"}>
      <Head />
      <div class="topo-body">
        <Canvas topology={topology} loads={shares} late={late} hovered={hovered.value}
          hover={hover} />
        <Busiest topology={topology} loads={now} hovered={hovered.value} hover={hover} />
      </div>
      <Controls row={row} topology={topology} loads={loads} />
    </section>
  );
}

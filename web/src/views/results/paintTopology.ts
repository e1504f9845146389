import { PALETTE, mix, parseColor } from "../../base/color.ts";
import { loadOf } from "../../state/topology.ts";
import type { Channel, TopoLink, Topology } from "../../state/topology.ts";

/** The topology picture on a 2D canvas: links by load, chips round, switches square. */

export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface TopoColors {
  readonly bg: string;
  readonly line: string;
  readonly ink: string;
  readonly ink2: string;
  readonly bad: string;
  readonly acc: string;
  readonly font: string;
}

export interface TopoScene {
  readonly topology: Topology;
  readonly width: number;
  readonly height: number;
  readonly places: readonly Place[];
  /** Radius of a node, px. */
  readonly radius: number;
}

const MARGIN = 34;
const LEAST_RADIUS = 2;
const MOST_RADIUS = 10;
/** Labels of nodes from this radius on. */
const LABEL_RADIUS = 5;
/** How far a link bows to its side, as a share of its length; both ways are seen apart. */
const BOW = 0.07;
/** Links over other nodes (the way round a torus) bow more, px by the step of the grid. */
const FAR_BOW = 0.5;
const SCALE = parseColor(PALETTE[0]!);

/** Least distance of two nodes, looked for among a few hundred of them. */
function leastGap(places: readonly Place[]): number {
  let least = Infinity;
  const some = places.slice(0, 300);
  for (let a = 0; a < some.length; a++) {
    for (let b = a + 1; b < some.length; b++) {
      const gap = Math.hypot(some[a]!.x - some[b]!.x, some[a]!.y - some[b]!.y);
      if (gap > 0.01 && gap < least) least = gap;
    }
  }
  return Number.isFinite(least) ? least : 100;
}

export function layOutScene(topology: Topology, width: number, height: number): TopoScene {
  const inner = {
    width: Math.max(10, width - 2 * MARGIN), height: Math.max(10, height - 2 * MARGIN),
  };
  const { extent } = topology;
  const side = Math.min(
    inner.width / Math.max(extent.x, 1e-3), inner.height / Math.max(extent.y, 1e-3));
  const scale = topology.round ? { x: side, y: side } : { x: inner.width, y: inner.height };
  const places = topology.nodes.map((node) => ({
    x: width / 2 + (node.x - 0.5) * scale.x, y: height / 2 + (node.y - 0.5) * scale.y,
  }));
  const radius = Math.min(MOST_RADIUS, Math.max(LEAST_RADIUS, leastGap(places) * 0.24));
  return { topology, width, height, places, radius };
}

/** Middle of the bow of a link: the control point of its curve. */
export function bowOf(scene: TopoScene, link: TopoLink): Place {
  const a = scene.places[link.from]!;
  const b = scene.places[link.to]!;
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const length = Math.max(1e-6, Math.hypot(dx, dy));
  const step = scene.radius / 0.24;
  const far = scene.topology.round && scene.radius < MOST_RADIUS && length > 1.6 * step;
  const bow = length * BOW + (far ? step * FAR_BOW : 0) + 2;
  const aside = (2 * bow) / length;
  return { x: (a.x + b.x) / 2 + dy * aside, y: (a.y + b.y) / 2 - dx * aside };
}

/** Colour of a load, 0..1, over the background: the scale of interval lanes. */
export function loadColor(share: number, background: string): string {
  // The least load must still be told from none.
  const rgb = mix(parseColor(background), SCALE, 0.15 + 0.85 * Math.min(1, share));
  return `#${rgb.toString(16).padStart(6, "0")}`;
}

function strokeLink(context: CanvasRenderingContext2D, scene: TopoScene, link: TopoLink): void {
  const a = scene.places[link.from]!;
  const b = scene.places[link.to]!;
  const bow = bowOf(scene, link);
  context.beginPath();
  context.moveTo(a.x, a.y);
  context.quadraticCurveTo(bow.x, bow.y, b.x, b.y);
  context.stroke();
}

function paintLinks(
  context: CanvasRenderingContext2D, scene: TopoScene, loads: readonly number[],
  colors: TopoColors, hovered: number,
): void {
  const { links } = scene.topology;
  const most = Math.max(1.5, Math.min(5, scene.radius * 0.7));
  // The busiest last, so that they lie on top.
  const order = links.map((_, at) => at).sort((a, b) => loads[a]! - loads[b]!);
  for (const at of order) {
    const load = loads[at]!;
    context.strokeStyle = load > 0 ? loadColor(load, colors.bg) : colors.line;
    context.lineWidth = load > 0 ? 1 + (most - 1) * Math.min(1, load) : 0.75;
    strokeLink(context, scene, links[at]!);
  }
  const over = links[hovered];
  if (over === undefined) return;
  context.strokeStyle = colors.acc;
  context.lineWidth = most + 1.5;
  strokeLink(context, scene, over);
}

function paintNodes(
  context: CanvasRenderingContext2D, scene: TopoScene, late: ReadonlySet<number>,
  colors: TopoColors,
): void {
  const { radius } = scene;
  context.lineWidth = 1.25;
  context.font = `10.5px ${colors.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  scene.topology.nodes.forEach((node, at) => {
    const { x, y } = scene.places[at]!;
    const bad = late.has(node.chip);
    context.fillStyle = bad ? colors.bad : colors.bg;
    context.strokeStyle = bad ? colors.bad : colors.ink2;
    context.beginPath();
    if (node.isSwitch) context.rect(x - radius, y - radius, radius * 2, radius * 2);
    else context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    if (radius < LABEL_RADIUS) return;
    const inside = radius >= MOST_RADIUS && node.name.length <= 3;
    context.fillStyle = inside ? (bad ? colors.bg : colors.ink) : colors.ink2;
    context.fillText(node.name, x, inside ? y : y + radius + 8);
  });
}

export function paintTopology(
  context: CanvasRenderingContext2D, scene: TopoScene, loads: readonly number[],
  late: ReadonlySet<number>, colors: TopoColors, hovered: number,
): void {
  const ratio = devicePixelRatio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, scene.width, scene.height);
  context.lineCap = "round";
  paintLinks(context, scene, loads, colors, hovered);
  paintNodes(context, scene, late, colors);
}

/** Points along a link's curve that a pointer is held against. */
const PARTS = 8;

/** The link under a point, or -1. */
export function linkAt(scene: TopoScene, x: number, y: number, near = 6): number {
  let best = near;
  let found = -1;
  scene.topology.links.forEach((link, at) => {
    const a = scene.places[link.from]!;
    const b = scene.places[link.to]!;
    const bow = bowOf(scene, link);
    for (let part = 1; part < PARTS; part++) {
      const s = part / PARTS;
      const px = (1 - s) ** 2 * a.x + 2 * s * (1 - s) * bow.x + s * s * b.x;
      const py = (1 - s) ** 2 * a.y + 2 * s * (1 - s) * bow.y + s * s * b.y;
      const away = Math.hypot(px - x, py - y);
      if (away < best) {
        best = away;
        found = at;
      }
    }
  });
  return found;
}

/** The load of every link of a picture. */
export function loadsOf(
  links: readonly { readonly req: number; readonly rsp: number }[], channel: Channel,
): number[] {
  return links.map((link) => loadOf(link, channel));
}

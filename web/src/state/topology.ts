import { parseLink } from "./results.ts";

/** The network of a run from its counters: a place for each node, the load of each link. */

export interface TopoNode {
  readonly name: string;
  /** A switch, else a chip. */
  readonly isSwitch: boolean;
  /** Of a chip, else -1. */
  readonly chip: number;
  /** 0..1 across the picture, and down. */
  x: number;
  y: number;
}

export interface TopoLink {
  readonly from: number;
  readonly to: number;
  /** Share of the run that each channel was busy. */
  readonly req: number;
  readonly rsp: number;
}

export interface Topology {
  readonly nodes: readonly TopoNode[];
  readonly links: readonly TopoLink[];
  /** Fit the picture without stretching: circles stay round. */
  readonly round: boolean;
  /** Shares of 0..1 that the nodes take; the larger is 1. */
  readonly extent: { readonly x: number; readonly y: number };
  readonly runNs: number;
}

const RUN_KEY = "multi_chip.kernel.total_sim_time_ns";

/** Number at the end of a name, for the order of nodes. */
function numberOf(name: string): number {
  return Number(/(\d+)$/.exec(name)?.[1] ?? Infinity);
}

function circle(nodes: readonly TopoNode[], radius = 1, turn = -Math.PI / 2): void {
  nodes.forEach((node, at) => {
    const angle = turn + (2 * Math.PI * at) / nodes.length;
    node.x = radius * Math.cos(angle);
    node.y = radius * Math.sin(angle);
  });
}

/** Rows by distance from the chips, chips at the bottom: trees of switches. */
function levels(nodes: readonly TopoNode[], links: readonly TopoLink[]): void {
  const level = nodes.map((node) => (node.isSwitch ? Infinity : 0));
  for (let changed = true; changed;) {
    changed = false;
    for (const { from, to } of links) {
      if (level[to]! > level[from]! + 1) {
        level[to] = level[from]! + 1;
        changed = true;
      }
    }
  }
  const most = Math.max(0, ...level.filter(Number.isFinite));
  for (let row = 0; row <= most; row++) {
    const inRow = nodes.filter((_, at) => level[at] === row);
    inRow.forEach((node, at) => {
      node.x = (at + 0.5) / inRow.length;
      node.y = most === 0 ? 0 : 1 - row / most;
    });
  }
}

function dims(name: string): readonly number[] {
  return (/-(\d+(?:x\d+)+)$/i.exec(name)?.[1] ?? "").split(/x/i).map(Number);
}

/** Row-major, the last dimension fastest; a third dimension goes back in depth. */
function grid(chips: readonly TopoNode[], size: readonly number[]): void {
  const columns = size.at(-1)!;
  const rows = size.at(-2)!;
  for (const node of chips) {
    const plane = Math.floor(node.chip / (columns * rows));
    node.x = (node.chip % columns) + plane * 0.36;
    node.y = (Math.floor(node.chip / columns) % rows) - plane * 0.3;
  }
}

/** Groups around, routers of a group in a ring of their own, their hosts further out. */
function dragonfly(nodes: readonly TopoNode[], hosts: number, routers: number): void {
  const switches = nodes.filter((node) => node.isSwitch);
  const groups = Math.ceil(switches.length / routers);
  const place = (node: TopoNode, router: number, out: number, aside: number): void => {
    const group = Math.floor(router / routers);
    const middle = (2 * Math.PI * group) / groups - Math.PI / 2;
    const own = middle + (2 * Math.PI * (router % routers)) / routers;
    const small = Math.min(0.3, 2.2 / groups);
    node.x = Math.cos(middle) + small * out * Math.cos(own + aside);
    node.y = Math.sin(middle) + small * out * Math.sin(own + aside);
  };
  for (const node of nodes) {
    if (node.isSwitch) place(node, numberOf(node.name), 0.55, 0);
    else {
      const host = node.chip % hosts;
      const aside = hosts > 1 ? (host / (hosts - 1) - 0.5) * 0.7 : 0;
      place(node, Math.floor(node.chip / hosts), 1, aside);
    }
  }
}

/** Places the nodes; returns whether the picture must stay round. */
function placeNodes(name: string, nodes: readonly TopoNode[], links: readonly TopoLink[]): boolean {
  const lower = name.toLowerCase();
  const chips = nodes.filter((node) => !node.isSwitch);
  const switches = nodes.length - chips.length;
  const size = /^(mesh|torus)-/.test(lower) ? dims(lower) : [];
  const cells = size.reduce((product, one) => product * one, 1);
  if (size.length >= 2 && cells === chips.length && switches === 0) {
    grid(chips, size);
    return true;
  }
  const fly = /^dragonfly-p(\d+)-a(\d+)-h\d+$/.exec(lower);
  if (fly !== null && switches > 0) {
    dragonfly(nodes, Number(fly[1]), Number(fly[2]));
    return true;
  }
  if (switches === 1) {
    circle(chips);
    for (const node of nodes) if (node.isSwitch) node.x = node.y = 0;
    return true;
  }
  if (switches > 0) {
    levels(nodes, links);
    return false;
  }
  circle(chips, 1, chips.length === 2 ? Math.PI : -Math.PI / 2);
  return true;
}

/** Scales the places to 0..1 in both directions, one scale for both where it must stay round. */
function normalize(nodes: readonly TopoNode[], round: boolean): Topology["extent"] {
  const span = (of: (node: TopoNode) => number): [number, number] =>
    [Math.min(...nodes.map(of)), Math.max(...nodes.map(of))];
  const [left, right] = span((node) => node.x);
  const [top, bottom] = span((node) => node.y);
  const both = Math.max(right - left, bottom - top, 1e-9);
  const width = round ? both : Math.max(right - left, 1e-9);
  const height = round ? both : Math.max(bottom - top, 1e-9);
  for (const node of nodes) {
    node.x = 0.5 + (node.x - (left + right) / 2) / width;
    node.y = 0.5 + (node.y - (top + bottom) / 2) / height;
  }
  return { x: (right - left) / width, y: (bottom - top) / height };
}

/** The network in the counters; null where they name no links. */
export function readTopology(
  stats: Readonly<Record<string, number>>, topologyName: string,
): Topology | null {
  const runNs = stats[RUN_KEY] ?? 0;
  const index = new Map<string, number>();
  const names: string[] = [];
  const loads = new Map<string, { from: string; to: string; req: number; rsp: number }>();
  for (const [key, value] of Object.entries(stats)) {
    if (!key.endsWith(".busy_ns")) continue;
    const link = parseLink(key.slice(0, -".busy_ns".length));
    if (link === null) continue;
    for (const name of [link.from, link.to]) {
      if (!index.has(name)) names.push(name);
      index.set(name, 0);
    }
    const of = `${link.from}_${link.to}`;
    const load = loads.get(of) ?? { from: link.from, to: link.to, req: 0, rsp: 0 };
    load[link.channel === "req" ? "req" : "rsp"] = runNs > 0 ? value / runNs : 0;
    loads.set(of, load);
  }
  if (loads.size === 0) return null;
  const isSwitch = (name: string): boolean => name.startsWith("sw");
  names.sort((a, b) => Number(isSwitch(a)) - Number(isSwitch(b)) || numberOf(a) - numberOf(b)
    || a.localeCompare(b));
  names.forEach((name, at) => index.set(name, at));
  let chips = 0;
  const nodes = names.map((name): TopoNode => ({
    name, isSwitch: isSwitch(name), chip: isSwitch(name) ? -1 : chips++, x: 0, y: 0,
  }));
  const links = [...loads.values()].map((load): TopoLink => ({
    from: index.get(load.from)!, to: index.get(load.to)!, req: load.req, rsp: load.rsp,
  }));
  const round = placeNodes(topologyName, nodes, links);
  const extent = normalize(nodes, round);
  return { nodes, links, round, extent, runNs };
}

export type Channel = "larger" | "req" | "rsp";
export const CHANNELS: readonly Channel[] = ["larger", "req", "rsp"];

export function loadOf(link: { req: number; rsp: number }, channel: Channel): number {
  if (channel === "larger") return Math.max(link.req, link.rsp);
  return link[channel];
}

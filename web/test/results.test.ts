import { describe, expect, test } from "vitest";
import { pageOf } from "../src/state/page.ts";
import {
  NO_LINK, filterQuery, formatSize, listQuery, parseLink, parseReason, parseSize,
  readResultsLink, topologyPattern, writeResultsLink,
} from "../src/state/results.ts";
import type { ResultsLink } from "../src/state/results.ts";
import { algorithmsFor, buildSpec, sizesOf, sweepForm } from "../src/state/sweepForm.ts";
import { loadOf, readTopology } from "../src/state/topology.ts";
import { medianOf } from "../src/views/results/Chips.tsx";
import { bestOf, worseBy } from "../src/views/results/Compare.tsx";
import { findCounters } from "../src/views/results/Counters.tsx";
import { bowOf, layOutScene, linkAt } from "../src/views/results/paintTopology.ts";
import { drawable } from "../src/state/compareLoad.ts";
import { lineColors, logTicks, padded } from "../src/widgets/Curve.tsx";

describe("link of the results page", () => {
  const full: ResultsLink = {
    experiment: 7, primitive: "allgather", algorithm: "auto", topology: "ring & 50%",
    sizeMin: 0, sizeMax: 1 << 30, sortBy: "bus_bw_gb_per_s", ascending: true, page: 3,
    result: 12, picture: "compare", group: "algorithm_used",
  };
  test("round trip", () => {
    expect(readResultsLink(writeResultsLink(full))).toEqual(full);
    expect(readResultsLink(writeResultsLink(NO_LINK))).toEqual(NO_LINK);
    expect(writeResultsLink(NO_LINK)).toBe("#results");
  });
  test("the page is the first word, a timeline link stays one", () => {
    expect(pageOf("#results")).toBe("results");
    expect(pageOf("#results&result=3")).toBe("results");
    expect(pageOf("#v=1&trace=2&w=0~5")).toBe("timeline");
    expect(pageOf("")).toBe("timeline");
    expect(pageOf("#resultsx")).toBe("timeline");
  });
  test("nonsense is left out", () => {
    expect(readResultsLink("#results&sort=stats&page=-4&result=x&show=1&min=1.5"))
      .toEqual(NO_LINK);
  });
  test("filters as the server takes them", () => {
    expect(topologyPattern("ring")).toBe("%ring%");
    expect(topologyPattern("torus-*x4")).toBe("torus-%x4");
    expect(topologyPattern("50%_\\")).toBe("%50\\%\\_\\\\%");
    expect(filterQuery(NO_LINK).toString()).toBe("");
    expect(filterQuery({ ...NO_LINK, sizeMin: 0 }).get("msg_size_min")).toBe("0");
    expect(listQuery(NO_LINK).get("sort_order")).toBe("desc");
  });
});

describe("sizes", () => {
  test("read in binary units, and what is none", () => {
    expect(["4096", "4 KiB", "4k", "1.5M", "2 GiB", "1 TiB", "7 B"].map(parseSize))
      .toEqual([4096, 4096, 4096, 1572864, 2 ** 31, 2 ** 40, 7]);
    expect(["", "x", "-1", "4 KX", "1.5", "1e3"].map(parseSize)).toEqual(Array(6).fill(null));
  });
  test("told exactly where they are whole", () => {
    expect([0, 1, 1024, 1536, 1 << 20, 1000001].map(formatSize))
      .toEqual(["0 B", "1 B", "1 KiB", "1536 B", "1 MiB", "976.56 KiB"]);
  });
  test("of a sweep", () => {
    expect(sizesOf("4 KiB", "1 MiB", "4")).toEqual([4096, 16384, 65536, 262144, 1048576]);
    expect(sizesOf("1", "1", "")).toEqual([1]);
    expect(sizesOf("8", "100", "3")).toEqual([8, 24, 72]);
    expect(sizesOf("1", "8", "1")).toBeNull();
    expect(sizesOf("8", "4", "2")).toBeNull();
    expect(sizesOf("0", "4", "2")).toBeNull();
  });
});

describe("sweep form", () => {
  const form = sweepForm.peek();
  const runs = (change: Partial<typeof form>): unknown => {
    const built = buildSpec({ ...form, ...change });
    return "runs" in built ? built.runs : built.problem;
  };
  test("runs are the product of all lists", () => {
    expect(runs({})).toBe(10);
    expect(runs({ topologies: "ring-4;ring-4\nstar-4" })).toBe(10);
    expect(runs({ more: '{"seed": [1, 2, 3], "link": {"latency_ns": [1, 2]}}' })).toBe(60);
    expect(runs({ more: '{"disturb": [{"chip": 1}, {"chip": 2}]}' })).toBe(10);
    expect(runs({ more: '{"disturb": [[{"chip": 1}], []]}' })).toBe(20);
    expect(runs({ more: '{"trace": {"enabled": true, "categories": ["link", "hop"]}}' })).toBe(10);
    expect(runs({ more: '{"trace": {"categories": [["link"], ["hop"]]}}' })).toBe(20);
  });
  test("one value is no list, further fields win", () => {
    const built = buildSpec({ ...form, topologies: "p2p", sizeTo: "4 KiB", more: '{"dtype": "int8"}' });
    expect("spec" in built && built.spec).toMatchObject({
      primitive: "allreduce", algorithm: "ring", topology: "p2p", msg_size_bytes: 4096,
      dtype: "int8", trace: { enabled: true },
    });
  });
  test("problems by field", () => {
    expect(runs({ experiment: " " })).toBe("experiment");
    expect(runs({ primitives: [] })).toBe("primitive");
    expect(runs({ algorithms: ["bruck"] })).toBe("algorithm");
    expect(runs({ topologies: " , " })).toBe("topology");
    expect(runs({ sizeTo: "x" })).toBe("size");
    expect(runs({ more: "[1]" })).toBe("more");
    expect(runs({ more: "{" })).toBe("more");
  });
  test("only algorithms that all primitives have", () => {
    expect(algorithmsFor(["allgather", "alltoall"])).toEqual(["auto", "bruck", "direct"]);
    expect(algorithmsFor(["p2p", "allreduce"])).toEqual(["auto"]);
  });
});

describe("what the simulator says", () => {
  test("reasons in parts", () => {
    expect(parseReason("is busy on its link link_c3_sw0_req for 73400.32 ns; median chip 36700.16"))
      .toEqual({ kind: "link", link: "link_c3_sw0_req", ns: 73400.32, median: 36700.16 });
    expect(parseReason("starts at 9e3 ns; median chip 0"))
      .toEqual({ kind: "starts", link: "", ns: 9000, median: 0 });
    expect(parseReason("somebody else's words")).toBeNull();
    expect(parseReason("sleeps for 3 ns; median chip 1")).toBeNull();
  });
  test("links by name", () => {
    expect(parseLink("link_c0_sw-1.b_rsp")).toEqual({ from: "c0", to: "sw-1.b", channel: "rsp" });
    expect(parseLink("cdma_chip0_unit0")).toBeNull();
  });
  test("counters by words in any order", () => {
    const stats = { "link_c0_c1_req.busy_ns": 1, "link_c0_c1_rsp.busy_ns": 2, "cdma_chip0.last": 3 };
    expect(findCounters(stats, "BUSY req").map((one) => one.value)).toEqual([1]);
    expect(findCounters(stats, "  ")).toHaveLength(3);
  });
  test("median", () => {
    expect(medianOf([3, 1, 2])).toBe(2);
    expect(medianOf([4, 1, 2, 3])).toBe(2.5);
    expect(medianOf([])).toBe(0);
  });
});

const RUN = "multi_chip.kernel.total_sim_time_ns";
const both = (a: string, b: string): Record<string, number> => ({
  [`link_${a}_${b}_req.busy_ns`]: 40, [`link_${a}_${b}_rsp.busy_ns`]: 10,
  [`link_${b}_${a}_req.busy_ns`]: 0, [`link_${b}_${a}_rsp.busy_ns`]: 100,
});

describe("topology", () => {
  test("nodes, links and loads from counters", () => {
    const star = readTopology({ [RUN]: 100, ...both("c0", "sw0"), ...both("c1", "sw0") }, "star-2")!;
    expect(star.nodes.map((one) => [one.name, one.chip])).toEqual([["c0", 0], ["c1", 1], ["sw0", -1]]);
    expect(star.links).toHaveLength(4);
    expect(star.links[0]).toEqual({ from: 0, to: 2, req: 0.4, rsp: 0.1 });
    expect(loadOf(star.links[1]!, "larger")).toBe(1);
    expect(readTopology({ [RUN]: 100 }, "ring-4")).toBeNull();
  });
  test("a torus is a grid, row-major", () => {
    const stats: Record<string, number> = { [RUN]: 1 };
    for (let chip = 0; chip < 6; chip++) Object.assign(stats, both(`c${chip}`, `c${(chip + 1) % 6}`));
    const torus = readTopology(stats, "torus-2d-2x3")!;
    const place = (name: string) => torus.nodes.find((one) => one.name === name)!;
    expect(place("c0").y).toBe(place("c2").y);
    expect(place("c3").y).toBeGreaterThan(place("c0").y);
    expect(place("c3").x).toBe(place("c0").x);
    expect(place("c2").x).toBeGreaterThan(place("c1").x);
  });
  test("a tree stands by the distance of its switches from the chips", () => {
    const tree = readTopology({
      [RUN]: 1, ...both("c0", "sw0"), ...both("c1", "sw1"), ...both("sw0", "sw2"),
      ...both("sw1", "sw2"), ...both("sw0", "sw3"),
    }, "fat-tree-2l-L2-H1-S2")!;
    const y = (name: string): number => tree.nodes.find((one) => one.name === name)!.y;
    expect(y("c0")).toBe(1);
    expect(y("sw2")).toBe(0);
    expect(y("sw0")).toBeCloseTo(0.5);
    expect(tree.nodes.every((one) => one.x >= 0 && one.x <= 1)).toBe(true);
  });
  test("both ways of a link are found apart by the pointer", () => {
    const two = readTopology({ [RUN]: 100, ...both("c0", "c1") }, "p2p")!;
    const scene = layOutScene(two, 400, 300);
    const curves = two.links.map((link) => {
      const bow = bowOf(scene, link);
      const [a, b] = [scene.places[link.from]!, scene.places[link.to]!];
      return linkAt(scene, (a.x + 2 * bow.x + b.x) / 4, (a.y + 2 * bow.y + b.y) / 4);
    });
    expect(curves).toEqual([0, 1]);
    expect(linkAt(scene, 5, 5)).toBe(-1);
  });
});

describe("curves and comparison", () => {
  const data = {
    measure: "total_latency_ns" as const, x: [0, 8, 64], groups: ["a", "b"],
    y: [[1, 4, 8], [2, null, 16]], ids: [[1, 2, 3], [4, null, 6]], duplicates: 0,
  };
  test("what has no logarithm is left out", () => {
    expect(drawable(data)).toMatchObject({
      x: [8, 64], y: [[4, 8], [null, 16]], ids: [[2, 3], [null, 6]],
    });
  });
  test("the best of each size, and how much worse", () => {
    expect(bestOf(data)).toEqual([1, 4, 8]);
    const other = { ...data, measure: "bus_bw_gb_per_s" as const };
    expect(bestOf(other)).toEqual([2, 4, 16]);
    expect(worseBy(data, 16, 8)).toBe(2);
    expect(worseBy(other, 8, 16)).toBe(2);
  });
  test("ticks at 1, 2 and 5, at powers of ten where there is little room", () => {
    expect(logTicks(3, 120, 100)).toEqual([5, 10, 20, 50, 100]);
    expect(logTicks(0.02, 1, 100)).toEqual([0.02, 0.05, 0.1, 0.2, 0.5, 1]);
    expect(logTicks(3, 1200, 20)).toEqual([10, 100, 1000]);
  });
  test("ten names have ten colours; room around the values", () => {
    const names = Array.from({ length: 10 }, (_, at) => `ring-${at}`);
    expect(new Set(lineColors(names)).size).toBe(10);
    const [low, high] = padded(5, 5, true);
    expect(low).toBeLessThan(5);
    expect(high).toBeGreaterThan(5);
    expect(padded(0, 0, false)).toEqual([-1, 1]);
  });
});

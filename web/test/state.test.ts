import { describe, expect, test } from "vitest";
import { makeChunks } from "../src/state/chunks.ts";
import { buildTree, checkOf, laneAt, laneTitle, layOut } from "../src/state/lanes.ts";
import { readLink, writeLink } from "../src/state/url.ts";
import type { LinkState } from "../src/state/url.ts";
import { DICTIONARIES } from "../src/state/words.ts";
import type { LaneRecord } from "../src/wire/types.ts";

describe("link", () => {
  const full: LinkState = {
    trace: 3, view: { start: -12.5, span: 0.1 + 0.2 },
    folded: ["g/rank 0, ubuntu", "g/50%"], unchecked: ["t7", "elink_c0_sw0_req~link_busy"],
    selection: { start: 1.25, end: 1e12 }, picked: { lane: "t1", id: 0, at: 123456.75 },
    tab: "losses",
  };
  test("round trip is exact", () => {
    const back = readLink(writeLink(full));
    expect(back).toEqual({
      ...full, folded: [...full.folded].sort(), unchecked: [...full.unchecked].sort(),
    });
    expect(writeLink(back)).toBe(writeLink(full));
  });
  test("an empty link is an empty state", () => {
    const none = readLink("");
    expect(none.view).toBeNull();
    expect(none.folded).toEqual([]);
    expect(readLink(writeLink(none))).toEqual(none);
  });
  test("nonsense is left out", () => {
    const got = readLink("#v=1&trace=x&w=1~NaN&s=5~2&p=1");
    expect(got).toEqual(readLink(""));
    expect(readLink("#w=0~-5").view).toBeNull();
  });
});

describe("words", () => {
  const keys = (language: "en" | "zh"): string[] => Object.keys(DICTIONARIES[language]).sort();
  test("both dictionaries have the same keys", () => expect(keys("zh")).toEqual(keys("en")));
  test("no text is empty", () => {
    for (const language of ["en", "zh"] as const) {
      for (const [key, text] of Object.entries(DICTIONARIES[language])) {
        expect(text.trim(), `${language} ${key}`).not.toBe("");
      }
    }
  });
  test("places to fill are the same in both", () => {
    const places = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();
    for (const [key, text] of Object.entries(DICTIONARIES.en)) {
      const other = DICTIONARIES.zh[key as keyof typeof DICTIONARIES.en];
      expect(places(other), key).toEqual(places(text));
    }
  });
  test("Chinese is Chinese", () => {
    const plain = Object.entries(DICTIONARIES.zh)
      .filter(([key, text]) => !/[\u4e00-\u9fff]/.test(text) && /[A-Za-z]{3}/.test(text)
        && key !== "settings.language.en" && !/^[\s{}a-z·/]*$/.test(text));
    expect(plain).toEqual([]);
  });
});

const lane = (over: Partial<LaneRecord>): LaneRecord =>
  ({ id: null, parent: null, kind: "group", name: "g", ...over });

const records: LaneRecord[] = [
  lane({ name: "rank 0" }),
  lane({ id: 0, parent: 0, kind: "slices", name: "Thread 1", rows: 3 }),
  lane({ id: 1, parent: 0, kind: "counter", name: "HBM" }),
  lane({ name: "link" }),
  lane({ id: 2, parent: 3, kind: "interval", name: "link_a_b_req", component: "link_a_b_req",
    category: "link_busy" }),
];

describe("lanes", () => {
  const tree = buildTree(records);
  test("tree, titles and keys", () => {
    expect(tree.leaves).toBe(3);
    expect(tree.roots.map((one) => one.title)).toEqual(["rank 0", "link"]);
    expect(tree.lanes[4]?.title).toBe("a → b req");
    expect(new Set(tree.lanes.map((one) => one.key)).size).toBe(5);
    expect(laneTitle(lane({ name: "link_a_b_c_d", component: "link_a_b_c_d" }))).toBe("a b c d");
    expect(laneTitle(lane({ name: "plain", component: "plain" }))).toBe("plain");
  });
  test("heights of the look", () => {
    const layout = layOut(tree, new Set(), "", false);
    expect([...layout.top]).toEqual([0, 24, 24 + 57, 24 + 57 + 38, 143, 167]);
    expect(laneAt(layout, 0)).toBe(0);
    expect(laneAt(layout, 24)).toBe(1);
    expect(laneAt(layout, 166)).toBe(4);
    expect(laneAt(layout, 167)).toBe(-1);
  });
  test("folding hides what is below, the filter opens it again", () => {
    const folded = new Set(["g/rank 0"]);
    expect(layOut(tree, folded, "", false).lanes.length).toBe(3);
    expect(layOut(tree, folded, "hbm", false).lanes.map((one) => one.title))
      .toEqual(["rank 0", "HBM"]);
    expect(layOut(tree, folded, "nowhere", false).lanes.length).toBe(0);
  });
  test("check boxes of groups", () => {
    const group = tree.lanes[0]!;
    expect(checkOf(group, new Set())).toBe("all");
    expect(checkOf(group, new Set(["t0"]))).toBe("some");
    expect(checkOf(group, new Set(["t0", "t1"]))).toBe("none");
  });
  test("a broken parent does not break the tree", () => {
    const odd = buildTree([lane({ parent: 0 }), lane({ parent: 99, id: 5, kind: "slices" })]);
    expect(odd.roots.length).toBe(2);
  });
  test("chunks keep kinds apart and join small groups", () => {
    const chunks = makeChunks(tree);
    expect(chunks.map((one) => one.kind).sort()).toEqual(["counter", "trace", "window"]);
    const many: LaneRecord[] = [];
    for (let group = 0; group < 200; group++) {
      many.push(lane({ name: `p${group}` }));
      many.push(lane({ id: group, parent: many.length - 1, kind: "slices", name: "t" }));
    }
    const joined = makeChunks(buildTree(many));
    expect(joined.length).toBeLessThanOrEqual(4);
    expect(joined.reduce((sum, one) => sum + one.lanes.length, 0)).toBe(200);
  });
});

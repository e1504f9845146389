// Several files on one timeline: SQL and its way to a slice, machines, clocks, adding files.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  assert, check, equal, idle, paintedShare, scratch, serve, skip, viewOf,
} from "./lib.mjs";
import { openPage } from "./chrome.mjs";

/** Two ranks of one job, the second 37 us later, and a file of its own timeline. */
export function rankFiles() {
  const write = (name, body) => {
    const path = join(scratch, name);
    writeFileSync(path, JSON.stringify(body));
    return path;
  };
  const rank = (at) => write(`rank${at}.json`, {
    distributedInfo: { rank: at, world_size: 2, backend: "nccl" },
    traceEvents: [
      { ph: "M", name: "process_name", pid: 10 + at, args: { name: "python" } },
      { ph: "X", name: "ncclAllReduce", cat: "kernel", pid: 10 + at, tid: 7,
        ts: 1000 + at * 37, dur: 100 },
      { ph: "X", name: "gemm", cat: "kernel", pid: 10 + at, tid: 7, ts: 1200 + at * 37, dur: 300 },
    ],
  });
  const alone = write("alone.json", { traceEvents: [
    { ph: "X", name: "alone", pid: 3, tid: 3, ts: 1100, dur: 50 },
  ] });
  return { ranks: [rank(0), rank(1)], alone };
}

async function ask(page, sql) {
  await page.fill("#sql-text", sql);
  await page.press("#sql-text", "Control+Enter");
  await page.waitForFunction(() => document.querySelector("#sql-run kbd") !== null);
}

const cells = (page) => page.locator(".grid [role=cell]").allTextContents();

async function sql(browser, url) {
  const page = await openPage(browser, url);
  await idle(page);
  await page.click("#tab-sql");
  await check("SQL: rows in a grid, sorted by a click on a column", async () => {
    await ask(page, "SELECT slice_id, name, ts, dur FROM slice ORDER BY slice_id");
    await page.waitForSelector(".grid [role=cell]");
    equal((await page.locator("#sql-told").textContent()).split(" ·")[0], "4 rows", "told");
    equal((await cells(page)).slice(0, 4), ["0", "ncclAllReduce", "1000000", "100000"], "row 1");
    await page.getByRole("button", { name: "dur" }).click();
    equal((await cells(page))[3], "300000", "longest first");
    await page.getByRole("button", { name: "dur" }).click();
    equal((await cells(page))[3], "100000", "shortest first");
  });
  await check("SQL: a click on a row shows its slice", async () => {
    await ask(page, "SELECT slice_id, name FROM slice WHERE name = 'gemm' ORDER BY ts DESC");
    await page.waitForFunction(() => document.querySelectorAll(".grid [role=row]").length === 3);
    await page.locator(".grid [role=cell]").first().click();
    await page.waitForFunction(() => location.hash.includes("&p=3"));
    const view = await viewOf(page);
    const bounds = await page.evaluate(async () =>
      (await (await fetch("api/traces/1")).json()).bounds);
    const start = 1_237_000 - Number(bounds.origin_ns);
    assert(view.start <= start && view.start + view.span >= start + 300_000, "not in the window");
    await page.click("#tab-detail");
    assert((await page.locator(".kv").textContent()).includes("gemm"), "the slice is not shown");
    await page.click("#tab-sql");
  });
  await check("SQL: a row of ts and track shows what runs there; another says why not", async () => {
    await ask(page, "SELECT 1050000 AS ts, 1 AS track_id");
    await page.locator(".grid [role=cell]").first().click();
    await page.waitForFunction(() => location.hash.includes("&p=2"));
    await ask(page, "SELECT 5 AS five");
    await page.locator(".grid [role=cell]").first().click();
    await page.waitForSelector(".warn-text");
  });
  await check("SQL: an error tells line and column; CSV has all", async () => {
    await ask(page, "SELECT name,\n  no_such FROM slice");
    await page.waitForSelector(".sql-error");
    assert(/^Line 2, column 3:/.test(await page.locator(".sql-error").textContent()), "no place");
    await ask(page, "SELECT range AS n FROM range(30000)");
    await page.waitForSelector("#sql-csv");
    assert((await page.locator("#sql-told").textContent()).includes("first"), "not told of more");
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("#sql-csv")]);
    const lines = readFileSync(await file.path(), "utf8").trim().split(/\r?\n/);
    equal([lines.length, lines[0], lines.at(-1)], [30_001, "n", "29999"], "CSV");
    equal(page.troubles.filter((one) => !one.includes("400")), [], "console");
  });
  await page.context().close();
}

async function clocks(browser, url, files) {
  const page = await openPage(browser, url);
  await idle(page);
  await check("machines: one group each, by name, when there are several", async () => {
    const titles = await page.evaluate(() =>
      window.meridian.stage.port.layout.lanes.map((lane) => `${lane.depth} ${lane.title}`));
    equal(titles, ["0 rank 0", "1 python 10", "2 Thread 7", "0 rank 1", "1 python 11",
      "2 Thread 7"], "tree");
  });
  await check("clocks: the status line leads to what was assumed; a manifest is saved", async () => {
    await page.click("#assumed");
    await page.waitForSelector(".clock-file");
    assert((await page.locator(".panel").textContent()).includes("assumed"), "nothing assumed");
    await page.locator(".offset input").fill("12x");
    await page.waitForSelector(".panel .error");
    await page.locator(".offset input").fill("-37 000");
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("#clocks-export")]);
    const { meridian_manifest: told } = JSON.parse(readFileSync(await file.path(), "utf8"));
    equal(told.files, [{ path: files.ranks[0] }, { path: files.ranks[1],
      clocks: { sync_to: { file: files.ranks[0] }, offset_ns: -37_000 } }], "manifest");
  });
  const starts = async () => {
    const id = await page.evaluate(() => Number(/trace=(\d+)/.exec(location.hash)[1]));
    const body = JSON.stringify({ sql: "SELECT ts FROM slice WHERE name = 'gemm'", format: "csv" });
    const answer = await fetch(`${url}/api/query?trace=${id}`,
      { method: "POST", body, headers: { "content-type": "application/json" } });
    return (await answer.text()).trim().split(/\r?\n/).slice(1);
  };
  const moved = async (act) => {
    const before = await page.evaluate(() => /trace=(\d+)/.exec(location.hash)[1]);
    await act();
    await page.waitForFunction((old) => /trace=(\d+)/.exec(location.hash)?.[1] !== old, before);
    await idle(page);
  };
  await check("clocks: an offset applies when the trace is opened anew", async () => {
    await moved(() => page.click("#clocks-apply"));
    equal(await starts(), ["1200000", "1200000"], "gemm after the offset");
    equal(await page.locator("#assumed").count(), 0, "still assumed");
    equal((await (await fetch(`${url}/api/traces`)).json()).traces.length, 1, "open traces");
  });
  await check("add: a further file joins, the offset and the window stay", async () => {
    await page.getByRole("banner").getByRole("button", { name: "Open…" }).click();
    await page.locator(".panel textarea").fill(files.alone);
    // The window moves in the very moment of the click: the link has no time to be written.
    const before = { start: 1_043_822.5, span: 425_354.25 };
    await moved(() => page.evaluate((window_) => {
      window.meridian.view.value = window_;
      document.getElementById("open-add").click();
    }, before));
    equal(await viewOf(page), before, "window");
    equal(await starts(), ["1200000", "1200000"], "gemm");
    assert(await page.evaluate(() => window.meridian.stage.port.layout.lanes.length) > 6,
      "no lanes of the further file");
    equal(page.troubles, [], "console");
  });
  await check("drop: a path opens, a file without one is asked for", async () => {
    const drop = (fill) => page.evaluate(({ path, name }) => {
      const data = new DataTransfer();
      if (path) data.setData("text/uri-list", `file://${path}`);
      if (name) data.items.add(new File(["x"], name));
      document.body.dispatchEvent(new DragEvent("drop",
        { dataTransfer: data, bubbles: true, cancelable: true }));
    }, fill);
    await drop({ name: "lost.json" });
    await page.waitForSelector(".panel .error");
    assert((await page.locator(".panel .error").textContent()).includes("lost.json"), "no name");
    await page.keyboard.press("Escape");
    await moved(() => drop({ path: files.alone }));
  });
  await page.context().close();
}

/** Three private clocks, hours apart: no part holds most of the events. */
async function farApart(browser) {
  const files = [0, 9e9, 20e9].map((base, at) => {
    const path = join(scratch, `far${at}.json`);
    writeFileSync(path, JSON.stringify({ traceEvents: Array.from({ length: 50 }, (_, i) => (
      { ph: "X", name: `work ${i}`, pid: at + 1, tid: 1, ts: base + i * 10, dur: 8 })) }));
    return path;
  });
  const server = await serve(...files);
  const page = await openPage(browser, server.url);
  await idle(page);
  await check("far apart: the window shows one file's events, the notice says why", async () => {
    equal(await viewOf(page), { start: 0, span: 498_000 }, "window");
    assert(await paintedShare(page, "Thread 1") > 0.5, "nothing to see");
    const said = await page.locator("#far span").first().textContent();
    assert(said.includes("5.6 h apart"), said);
    await page.locator("#far").getByRole("button", { name: "Clocks" }).click();
    await page.waitForSelector("#clocks-apply");
    await page.keyboard.press("Escape");
  });
  await check("far apart: everything, and back", async () => {
    await page.locator("#far").getByRole("button", { name: "Show everything" }).click();
    await idle(page);
    equal((await viewOf(page)).span, 20_000_000_498_000, "all");
    await page.locator("#far").getByRole("button", { name: "Back to the fullest" }).click();
    await idle(page);
    equal(await viewOf(page), { start: 0, span: 498_000 }, "window again");
  });
  await check("far apart: aligned by first events all stand in one window", async () => {
    await page.locator("#far").getByRole("button", { name: "Align" }).click();
    await page.waitForFunction(() => /trace=2/.test(location.hash));
    await idle(page);
    equal(await viewOf(page), { start: 0, span: 498_000 }, "window");
    equal(await page.locator("#far").count(), 0, "notice");
    equal(await page.locator("#events").textContent(), "150 events in view", "events");
    equal(page.troubles, [], "console");
  });
  await page.context().close();
  await server.stop();
}

export async function mergeTests(browser) {
  await farApart(browser);
  const files = rankFiles();
  const server = await serve(...files.ranks);
  const asked = await fetch(`${server.url}/api/query?trace=1`, { method: "POST", body: "{}" });
  if (asked.status === 404) skip("SQL and clocks", "this program has no /api/query");
  else {
    await sql(browser, server.url);
    await clocks(browser, server.url, files);
  }
  await server.stop();
}

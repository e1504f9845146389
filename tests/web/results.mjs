// Results: a sweep from the page (progress, curves, comparison, drill-down to the timeline), list,
// deletion, cancelling, link, replay, languages, narrow windows, a server without a store.
import { join } from "node:path";
import { assert, check, equal, idle, near, scratch, serve, serveData } from "./lib.mjs";
import { openPage } from "./chrome.mjs";

const list = "/api/evaluation/comm-results";
const ask = async (url, path) => (await fetch(`${url}${path}`)).json();
const total = (page) => page.locator("#results-total").getAttribute("data-total").then(Number);
const rows = (page) => page.locator(".list-rows tbody tr");
const ids = (page) => rows(page).evaluateAll((all) => all.map((one) => Number(one.dataset.id)));

async function until(what, holds, tries = 200) {
  for (let left = tries; left > 0; left--) {
    if (await holds()) return;
    await new Promise((next) => setTimeout(next, 100));
  }
  throw new Error(`${what} does not come`);
}

/** Pictures to look at, where a folder for them is named. */
async function picture(page, name) {
  const folder = process.env.MERIDIAN_PICTURES;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Fills the form of a sweep and sends it. */
async function sweep(page, fields, more = "") {
  if (await page.locator(".panel").count() === 0) await page.click("#new-sweep");
  for (const [id, text] of Object.entries(fields)) await page.fill(`#s-${id}`, text);
  await page.fill("#s-more", more);
  await page.click("#s-start");
}

/** Where a point of the curve is on the page. */
const spot = (page, line, at) => page.evaluate(([l, a]) => {
  const { plot } = document.querySelector(".curve");
  const box = plot.over.getBoundingClientRect();
  return {
    x: box.x + plot.valToPos(plot.data[0][a], "x"),
    y: box.y + plot.valToPos(plot.data[l + 1][a], "y"),
  };
}, [line, at]);

async function firstSweep(page, url) {
  await check("results: a store without results says what to do", async () => {
    await page.locator(".list-state").waitFor();
    equal(await total(page), 0, "total");
    await page.locator(".list-state").getByRole("button", { name: "New sweep" }).click();
  });
  await check("results: a sweep of 2 topologies x 5 sizes with progress to its end", async () => {
    const fields = {
      experiment: "shapes", topologies: "star-8, torus-2d-2x4", from: "4 KiB", to: "1 MiB",
      factor: "4",
    };
    for (const [id, text] of Object.entries(fields)) await page.fill(`#s-${id}`, text);
    await page.check('[name="algorithm"][value="halving_doubling"]');
    equal(await page.locator("#s-runs").textContent(), "20 runs", "runs of two algorithms");
    await page.uncheck('[name="algorithm"][value="ring"]');
    assert(await page.locator('[name="algorithm"][value="bruck"]').isDisabled(), "bruck of allreduce");
    equal(await page.locator("#s-runs").textContent(), "10 runs", "runs");
    await page.fill("#s-more", '{"disturb": [{"chip": 3, "slow": 2}]}');
    equal(await page.locator("#s-runs").textContent(), "10 runs", "a list by nature is not swept");
    await picture(page, "sweep-form");
    await page.evaluate(() => {
      window.seen = [];
      new MutationObserver(() => {
        const card = document.querySelector(".sweep");
        if (card !== null) window.seen.push(Number(card.dataset.done));
      }).observe(document.body, { subtree: true, attributes: true, childList: true });
    });
    await page.click("#s-start");
    const card = page.locator(".sweep");
    await card.waitFor();
    equal(await card.getAttribute("data-total"), "10", "total of the card");
    await page.locator('.sweep[data-state="ended"]').waitFor({ timeout: 60_000 });
    equal(await card.getAttribute("data-done"), "10", "done");
    const seen = await page.evaluate(() => window.seen);
    assert(seen.every((one, at) => at === 0 || one >= seen[at - 1]), `progress ${seen}`);
    assert(seen.some((one) => one < 10), `progress was never seen: ${seen}`);
    await until("all rows", async () => await rows(page).count() === 10);
    equal((await ask(url, list)).total, 10, "rows of the store");
  });
}

async function curves(page, url) {
  const compared = await ask(url, "/api/evaluation/compare?group_by=topology_name");
  await check("results: curves are log-log, a line a topology, with the store's values", async () => {
    await until("the curve", () => page.evaluate(() =>
      document.querySelector(".curve")?.plot?.data[0].length === 5));
    const got = await page.evaluate(() => {
      const { plot } = document.querySelector(".curve");
      return {
        data: plot.data.map((one) => [...one]), names: plot.series.map((one) => one.label),
        distr: [plot.scales.x.distr, plot.scales.y.distr],
      };
    });
    equal(got.distr, [3, 3], "logarithmic axes");
    equal(got.data, [compared.x, ...compared.y], "data");
    equal(got.names.slice(1), ["star-8", "torus-2d-2x4"], "lines");
    await picture(page, "curves");
  });
  await check("results: a drag zooms the curve, the button goes back", async () => {
    const [a, b] = [await spot(page, 0, 1), await spot(page, 0, 3)];
    await page.mouse.move(a.x - 12, a.y);
    await page.mouse.down();
    await page.mouse.move(b.x + 12, a.y, { steps: 5 });
    await page.mouse.up();
    const span = () => page.evaluate(() => {
      const { min, max } = document.querySelector(".curve").plot.scales.x;
      return max / min;
    });
    assert(await span() < 200, `zoomed to a ratio of ${await span()}`);
    await page.locator(".curve-reset").click();
    assert(await span() > 256, `whole range has a ratio of ${await span()}`);
    equal(await page.locator(".curve-reset").count(), 0, "button");
  });
  await check("results: hover names the values, a click on a point opens its result", async () => {
    const at = await spot(page, 1, 4);
    await page.mouse.move(at.x + 2, at.y - 2);
    await until("the legend", async () =>
      (await page.locator(".u-legend").textContent()).includes("1 MiB"));
    await page.mouse.click(at.x + 2, at.y - 2);
    await page.locator(`.result[data-result="${compared.ids[1][4]}"]`).waitFor();
    assert(page.url().endsWith(`result=${compared.ids[1][4]}`), page.url());
  });
  await check("results: bus bandwidth by algorithm, and the comparison", async () => {
    await page.click("#picture-bandwidth");
    await page.selectOption("#group", "algorithm_used");
    await until("one line", () => page.evaluate(() =>
      document.querySelector(".curve")?.plot?.series[1].label === "halving_doubling"));
    await page.click("#picture-compare");
    await page.selectOption("#group", "topology_name");
    await until("ten cells", async () => await page.locator(".compare .cell").count() === 10);
    equal(await page.locator(".compare .best").count(), 5, "a best of each size");
    await picture(page, "compare");
    await page.locator(".compare .cell").first().click();
    await page.locator(`.result[data-result="${compared.ids[0][0]}"]`).waitFor();
    await page.click("#picture-latency");
  });
  return compared;
}

async function details(page, url, id) {
  await page.goto(`${url}#results&result=${id}`);
  await page.locator(`.result[data-result="${id}"]`).waitFor();
  const row = await ask(url, `${list}/${id}`);
  await check("result: a bar a chip, the straggler marked with its reason", async () => {
    equal(await page.locator(".chip-row").count(), 8, "chips");
    const late = row.per_chip_summary.filter((chip) => chip.is_straggler);
    equal(await page.locator(".chip-row.late").count(), late.length, "stragglers");
    assert(late.some((chip) => chip.reason), "the run has no straggler with a reason");
    const text = await page.locator("#straggler").textContent();
    assert(/is a straggler/.test(text) && /median chip|chip at/.test(text), text);
    await picture(page, "result");
  });
  await check("result: all counters, searchable", async () => {
    await page.click("#result-counters");
    const all = Object.keys(row.stats).length;
    const count = async () => Number((await page.locator("#counter-count").textContent())
      .replace(/[^\d]/g, ""));
    equal(await count(), all, "counters");
    await page.fill("#counter-search", "link req busy");
    const wanted = Object.keys(row.stats).filter((key) => /link.*req.*busy/.test(key));
    equal(await count(), wanted.length, "found");
    const first = await page.locator(".counters tbody tr td:first-child").first().textContent();
    const most = Math.max(...wanted.map((key) => row.stats[key]));
    equal(row.stats[first], most, "the greatest first");
    await page.click("#result-spec");
    assert((await page.locator(".result .body").textContent()).includes("store_and_forward"), "spec");
    await page.click("#result-overview");
  });
  return row;
}

async function replays(page, row) {
  const busiest = () => page.locator(".busiest tbody tr").first()
    .evaluate((one) => [one.dataset.link, Number(one.dataset.load)]);
  await check("topology: links by their load over the run", async () => {
    const run = row.stats["multi_chip.kernel.total_sim_time_ns"];
    const loads = Object.entries(row.stats).filter(([key]) => /^link_.*_req\.busy_ns$/.test(key))
      .map(([, value]) => value / run);
    near((await busiest())[1], Math.max(...loads), 1e-9, "load of the busiest link");
    const painted = await page.locator(".topo-box canvas").evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 3; at < data.length; at += 4) if (data[at] > 0) count++;
      return count;
    });
    assert(painted > 2000, `${painted} pixels of the topology are painted`);
  });
  await check("topology: the replay follows the aggregated window of the trace", async () => {
    page.requested.length = 0;
    await page.locator("#replay-at").evaluate((range) => {
      range.value = "0.5";
      range.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await until("a bucket", async () =>
      await page.locator(".topology").getAttribute("data-bucket") !== "whole");
    const asked = page.requested.filter((one) => one.includes(`/comm-results/${row.id}/trace?`));
    equal(asked.length, 1, "questions");
    assert(/buckets=\d+&categories=link_busy/.test(asked[0]), asked[0]);
    const bucket = Number(await page.locator(".topology").getAttribute("data-bucket"));
    const answer = await (await fetch(asked[0], { headers: { accept: "application/json" } })).json();
    const buckets = Number(/buckets=(\d+)/.exec(asked[0])[1]);
    const run = row.stats["multi_chip.kernel.total_sim_time_ns"];
    const at = answer.rows ?? answer;
    const here = at.filter((one) =>
      Math.round((one.bucket_start_ns / run) * buckets) === bucket && one.busy_ratio > 0);
    const most = Math.max(...here.map((one) => one.busy_ratio));
    near((await busiest())[1], most, 1e-6, "load of the busiest link");
    await picture(page, "replay");
  });
  await check("topology: playing moves the play head to the end, the run comes back", async () => {
    await page.click("#replay-play");
    const first = Number(await page.locator(".topology").getAttribute("data-bucket"));
    await until("the head moves", async () =>
      Number(await page.locator(".topology").getAttribute("data-bucket")) > first);
    await page.click("#replay-play");
    await page.click("#replay-whole");
    equal(await page.locator(".topology").getAttribute("data-bucket"), "whole", "bucket");
  });
}

async function timeline(page, url, id) {
  await check("result: down to the timeline and back", async () => {
    await page.locator(`tr[data-id="${id}"] .timeline`).click();
    await idle(page);
    assert(page.url().includes("trace="), page.url());
    const lanes = await page.locator(".lane").count();
    assert(lanes > 5, `${lanes} lanes`);
    await page.keyboard.press("w");
    await idle(page);
    await picture(page, "timeline");
    await page.goBack();
    await page.locator(`.result[data-result="${id}"]`).waitFor();
    equal((await ask(url, "/api/traces")).traces.length, 1, "open traces");
    await page.locator(".result .timeline").click();
    await idle(page);
    equal((await ask(url, "/api/traces")).traces.length, 1, "open traces after a second click");
    await page.getByRole("link", { name: "Results" }).click();
    await page.locator(`.result[data-result="${id}"]`).waitFor();
  });
}

/** Whether the accent colour stands in the column of a time on the timeline's overlay. */
const headAt = (page, ns) => page.evaluate((at) => {
  const { start, span } = window.meridian.view.value;
  const { overlay } = window.meridian.stage.canvases;
  const x = Math.round(((at - start) / span) * overlay.width);
  const { data } = overlay.getContext("2d").getImageData(x, 40, 1, 1);
  const accent = getComputedStyle(document.documentElement).getPropertyValue("--acc").trim();
  const hex = [...data.slice(0, 3)].map((one) => one.toString(16).padStart(2, "0")).join("");
  return accent === `#${hex}`;
}, ns);

async function sharedWindow(page, row) {
  await check("topology: window and play head are those of the timeline", async () => {
    const run = row.stats["multi_chip.kernel.total_sim_time_ns"];
    const seek = (share) => page.locator("#replay-at").evaluate((range, value) => {
      range.value = String(value);
      range.dispatchEvent(new Event("input", { bubbles: true }));
    }, share);
    await page.keyboard.press("Escape");
    await page.locator(".result .timeline").click();
    await idle(page);
    await page.keyboard.press("Control+0");
    await page.getByRole("link", { name: "Results" }).click();
    await page.locator("#replay-at").waitFor();
    await seek(0.5);
    await until("the replay", async () =>
      await page.locator(".topology").getAttribute("data-bucket") !== "whole");
    await page.getByRole("link", { name: "Timeline" }).click();
    await idle(page);
    assert(await headAt(page, run / 2), "no play head at the middle of the run");
    for (let times = 0; times < 3; times++) await page.keyboard.press("w");
    await idle(page);
    const { start, span } = await page.evaluate(() => ({ ...window.meridian.view.value }));
    page.requested.length = 0;
    await page.getByRole("link", { name: "Results" }).click();
    await until("the replay again", async () => await page.locator(".topology").count() === 1
      && await page.locator(".topology").getAttribute("data-bucket") !== "whole");
    const asked = page.requested.find((one) => one.includes(`/comm-results/${row.id}/trace?`));
    const query = new URL(asked).searchParams;
    near(Number(query.get("start_ns")), start, 1e-6, "start of the window");
    near(Number(query.get("end_ns")), start + span, 1e-6, "end of the window");
    await page.click("#replay-whole");
  });
}

async function lostServer(browser) {
  const folder = join(scratch, "lost");
  const first = await serveData(folder, 0, "--threads", "1");
  const page = await openPage(browser, `${first.url}#results`);
  await page.locator(".list-state").waitFor();
  await check("sweep: a server that died in it and came back is followed to the end", async () => {
    await sweep(page, {
      experiment: "lost", topologies: "ring-32", from: "4 MiB", to: "4 MiB",
    }, JSON.stringify({ seed: [...Array(12).keys()], trace: { enabled: false } }));
    await until("three done", async () =>
      Number(await page.locator(".sweep").getAttribute("data-done")) >= 3);
    await first.kill();
    const again = await serveData(folder, new URL(first.url).port, "--threads", "1");
    await page.locator('.sweep[data-state="ended"]').waitFor({ timeout: 60_000 });
    equal(await page.locator(".sweep").getAttribute("data-done"), "12", "done");
    equal(await page.locator(".sweep").count(), 1, "cards");
    await until("all rows", async () => await rows(page).count() === 12);
    await again.stop();
  });
  await page.context().close();
}

async function table(page, url) {
  await check("results: filters, order and link", async () => {
    await page.getByRole("button", { name: "Close the result" }).click();
    await page.fill("#f-topology", "star");
    await until("five rows", async () => await rows(page).count() === 5);
    await page.fill("#f-min", "64 KiB");
    await until("three rows", async () => await rows(page).count() === 3);
    await page.click('[data-sort="total_latency_ns"]');
    const want = await ask(url, `${list}?topology_name=star%25&msg_size_min=65536`
      + "&sort_by=total_latency_ns&sort_order=desc");
    await until("the order", async () =>
      JSON.stringify(await ids(page)) === JSON.stringify(want.results.map((one) => one.id)));
    await page.fill("#f-max", "nonsense");
    equal(await page.locator("#f-max").getAttribute("aria-invalid"), "true", "marked");
    await page.reload();
    await until("the same rows after a reload", async () =>
      JSON.stringify(await ids(page)) === JSON.stringify(want.results.map((one) => one.id)));
    await page.click("#f-clear");
    await until("all rows", async () => await rows(page).count() === 10);
  });
  await check("results: selected rows alone are drawn, then deleted with their traces", async () => {
    const [first, second] = await ids(page);
    for (const id of [first, second]) await page.locator(`tr[data-id="${id}"] input`).check();
    await until("two points", () => page.evaluate(() => document.querySelector(".curve").plot.data
      .slice(1).flatMap((one) => [...one]).filter((one) => one !== null).length === 2));
    await page.click("#remove");
    equal(await rows(page).count(), 10, "nothing goes without the second word");
    await page.click("#remove-yes");
    await until("eight rows", async () => await rows(page).count() === 8);
    equal((await fetch(`${url}${list}/${first}`)).status, 404, "status of a removed result");
  });
}

async function trouble(page, url) {
  await check("sweep: a bad specification is told in the form and runs nothing", async () => {
    const before = (await ask(url, "/api/evaluation/tasks")).total;
    await sweep(page, { topologies: "ring-8, moebius-7" });
    const alert = page.locator(".panel [role=alert]");
    await alert.waitFor();
    assert((await alert.textContent()).includes("moebius-7"), await alert.textContent());
    equal((await ask(url, "/api/evaluation/tasks")).total, before, "tasks");
    await page.fill("#s-more", "{");
    assert(await page.locator("#s-start").isDisabled(), "a form with broken JSON can be sent");
  });
  await check("sweep: cancelling ends what runs and what waits", async () => {
    await sweep(page, { experiment: "long", topologies: "ring-64", from: "1 GiB", to: "1 GiB" },
      '{"link": {"packet_bytes": 1024}, "seed": [1, 2, 3, 4, 5], "trace": {"enabled": false}}');
    const card = page.locator(".sweep", { hasText: "long" });
    await card.locator(".cancel").click();
    await page.locator('.sweep[data-state="ended"]', { hasText: "long" }).waitFor();
    equal(await card.getAttribute("data-done"), "0", "done");
    const { tasks } = await ask(url, "/api/evaluation/tasks?page_size=5");
    equal(tasks.map((one) => one.state), Array(5).fill("cancelled"), "states");
  });
}

async function looks(browser, url, id) {
  const hash = `#results&result=${id}`;
  await check("results: dark, Chinese and narrow, nothing runs out of the window", async () => {
    const page = await openPage(browser, `${url}${hash}`, {
      colorScheme: "dark", locale: "zh-CN", viewport: { width: 720, height: 860 },
    });
    await page.locator(`.result[data-result="${id}"]`).waitFor();
    await page.locator(".curve canvas").waitFor();
    assert((await page.locator("#straggler").textContent()).includes("芯片"), "not in Chinese");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    equal(wide, 0, "px wider than the window");
    await picture(page, "narrow-dark-chinese");
    equal(page.troubles, [], "troubles");
    await page.context().close();
    const large = await openPage(browser, `${url}${hash}`, { colorScheme: "dark" });
    await large.locator(".curve canvas").waitFor();
    await picture(large, "dark");
    equal(large.troubles, [], "troubles");
    await large.context().close();
  });
}

async function withoutStore(browser, known) {
  const server = await serve(known);
  const page = await openPage(browser, server.url);
  await idle(page);
  await check("results: a server without a store says so, the timeline stays", async () => {
    const before = await page.evaluate(() => ({ ...window.meridian.view.value }));
    await page.getByRole("link", { name: "Results" }).click();
    await page.locator(".list-state").waitFor();
    const text = await page.locator(".list-state").textContent();
    assert(text.includes("--data DIR"), text);
    await page.keyboard.press("w");
    await page.getByRole("link", { name: "Timeline" }).click();
    await idle(page);
    equal(await page.evaluate(() => ({ ...window.meridian.view.value })), before, "window");
  });
  await page.context().close();
  await server.stop();
}

export async function resultTests(browser, files) {
  await withoutStore(browser, files.known);
  await lostServer(browser);
  const server = await serveData(join(scratch, "results"));
  const page = await openPage(browser, `${server.url}#results`);
  const { url } = server;
  await firstSweep(page, url);
  const compared = await curves(page, url);
  const id = compared.ids[0][4];
  const row = await details(page, url, id);
  await replays(page, row);
  await timeline(page, url, id);
  await sharedWindow(page, row);
  await looks(browser, url, id);
  await table(page, url);
  await trouble(page, url);
  await check("results: no errors in the console, nothing from outside", async () => {
    const expected = /status of 400/;
    equal(page.troubles.filter((one) => !expected.test(one)), [], "troubles");
    equal(page.requested.filter((one) => !one.startsWith(url) && !one.startsWith("data:")
      && !one.startsWith("blob:")), [], "requests");
  });
  await page.context().close();
  await server.stop();
}

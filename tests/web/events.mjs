// Event traces: mode switch with hysteresis, broken lanes, unclosed intervals, details.
import { assert, canvasBox, check, equal, idle, paintedShare, serve, viewOf } from "./lib.mjs";
import { openPage } from "./chrome.mjs";

const mode = (page) => page.getAttribute("#mode", "data-mode");
const eventsInView = async (page) =>
  Number((await page.textContent("#events")).replace(/[^0-9]/g, ""));

async function wheel(page, by) {
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, by);
  await page.keyboard.up("Control");
  await idle(page);
}

async function switching(browser, url) {
  const page = await openPage(browser, url);
  await idle(page);
  const box = await canvasBox(page);
  await page.mouse.move(box.x + box.width / 2, box.y + 60);

  await check("mode: aggregated on the whole trace, and shown with its columns", async () => {
    equal(await mode(page), "aggregated", "mode");
    assert(await eventsInView(page) > 60_000, "too few events for this test");
    assert(/columns/.test(await page.textContent("#mode")), "columns are not told");
    const first = await page.evaluate(() =>
      window.meridian.stage.port.layout.lanes.find((lane) => lane.kind !== "group").title);
    assert(await paintedShare(page, first) > 0.02, "the first lane is empty");
  });
  await check("mode: raw below the mark, aggregated again above, hysteresis between", async () => {
    for (let step = 0; step < 40 && (await mode(page)) === "aggregated"; step++) {
      const before = await eventsInView(page);
      assert(before > 50_000, `aggregated with ${before} events`);
      await wheel(page, -240);
    }
    equal(await mode(page), "raw", "mode after zooming in");
    assert(await eventsInView(page) <= 50_000, "raw with too many events");
    for (let step = 0; step < 60 && (await mode(page)) === "raw"; step++) {
      assert(await eventsInView(page) <= 60_000, "raw above the upper mark");
      await wheel(page, 40);
    }
    equal(await mode(page), "aggregated", "mode after zooming out");
    assert(await eventsInView(page) > 50_000, "it went back below the lower mark");
  });
  await check("mode: both members of pairs are asked for, windows hold whole buckets", async () => {
    const asked = page.requested.filter((one) => /\/trace\?/.test(one));
    assert(asked.length > 0, "no question");
    for (const one of asked) {
      const query = new URL(one).searchParams;
      const list = query.get("categories").split(",");
      equal(list.includes("link_busy"), list.includes("link_idle"), "members of the link pair");
      if (query.get("buckets") === null) continue;
      equal(query.get("extra"), "minmax", "extra");
      const start = Number(query.get("start_ns"));
      const width = (Number(query.get("end_ns")) - start) / Number(query.get("buckets"));
      const edges = start / width;
      assert(Math.abs(edges - Math.round(edges)) < 1e-3, `start is no multiple: ${edges}`);
    }
  });
  await check("mode: a refused raw window changes to aggregated without an error", async () => {
    await page.keyboard.press("Control+0");
    await idle(page);
    let refused = 0;
    page.on("response", (response) => {
      if (/\/trace\?/.test(response.url()) && response.status() === 400) refused++;
    });
    // Zoom deep, then jump out at once: the guess from the deep window may be far off.
    for (let step = 0; step < 12; step++) await wheel(page, -240);
    await page.keyboard.press("Control+0");
    await idle(page);
    equal(await mode(page), "aggregated", `mode (${refused} refused)`);
    equal(await page.locator(".lane-error").count(), 0, "errors on lanes");
  });
  await check("events: a clean page, no errors in the console", async () => {
    const real = page.troubles.filter((one) => !/400/.test(one));
    equal(real, [], "errors");
  });
  await page.context().close();
}

async function marks(browser, url) {
  const page = await openPage(browser, url);
  await idle(page);
  const box = await canvasBox(page);
  const place = async (title, ns) => {
    const view = await viewOf(page);
    const top = await page.evaluate((wanted) => {
      const { layout, scrollTop } = window.meridian.stage.port;
      return layout.top[layout.lanes.findIndex((lane) => lane.title === wanted)] - scrollTop;
    }, title);
    return [box.x + ((ns - view.start) / view.span) * box.width, box.y + top + 12];
  };

  await check("events: groups link, cdma, flow; titles without the group", async () => {
    const groups = await page.locator(".lane.g .name").allTextContents();
    for (const group of ["link", "cdma", "flow"]) {
      assert(groups.includes(group), `no group ${group} in ${groups}`);
    }
    for (const title of ["c0 → sw0 req", "sw0 → c1 req", "0 → 1"]) {
      assert(await paintedShare(page, title) > 0, `the lane ${title} is empty`);
    }
  });
  await check("anomalies: the lane is red, hatched, and says why", async () => {
    const row = page.locator(".lane.bad");
    equal(await row.count(), 1, "broken lanes");
    assert((await row.textContent()).includes("1 anomaly"), await row.textContent());
    await page.mouse.move(...await place("sw0 → c1 req", 20));
    const tip = await page.locator(".tip").textContent();
    assert(/do not fit/.test(tip) && tip.includes("15 ns"), `the reason is missing: ${tip}`);
  });
  await check("unclosed: drawn to the end of the simulation and told", async () => {
    await page.mouse.click(...await place("c0 → sw0 req", 80));
    const text = await page.locator(".pane .body").textContent();
    assert(text.includes("never closed"), text);
    assert(text.includes("40 ns"), `wrong duration: ${text}`);
  });
  await check("left-truncated: an interval before the window begins at its edge", async () => {
    await page.evaluate(() => (window.meridian.view.value = { start: 25, span: 30 }));
    await idle(page);
    const [, y] = await place("chip0 unit0 t0", 30);
    await page.mouse.click(box.x + box.width * 0.5, y);
    const text = await page.locator(".pane .body").textContent();
    assert(text.includes("began before the window"), text);
    assert(text.includes("goes on after the window"), text);
  });
  await check("details: the record's JSON and its value with a unit", async () => {
    await page.keyboard.press("Control+0");
    await idle(page);
    await page.mouse.click(...await place("0 → 1", 30));
    const text = await page.locator(".pane .body").textContent();
    assert(text.includes("hop") && text.includes("12.5 ns"), text);
  });
  await page.context().close();
}

export async function eventTests(browser, files) {
  if (files.events !== undefined) {
    const large = await serve(files.events);
    await switching(browser, large.url);
    await large.stop();
  }
  const small = await serve(files.brokenEvents);
  await marks(browser, small.url);
  await small.stop();
}

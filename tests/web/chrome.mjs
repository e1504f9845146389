// Plain slices: load, details, selection, zoom and pan, link, panes, languages, dark.
import {
  assert, canvasBox, check, equal, idle, near, paintedShare, serve, viewOf,
} from "./lib.mjs";
import { launchChrome } from "./traces.mjs";

const VIEWPORT = { width: 1440, height: 860 };

/** A page of its own with a record of what went wrong in it. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: VIEWPORT, locale: "en-GB", ...options });
  const page = await context.newPage();
  page.troubles = [];
  page.requested = [];
  page.on("console", (message) => {
    if (message.type() === "error") page.troubles.push(message.text());
  });
  page.on("pageerror", (error) => page.troubles.push(error.message));
  page.on("request", (request) => page.requested.push(request.url()));
  await page.goto(url);
  return page;
}

/** x on the page of a relative time. */
async function xOf(page, ns) {
  const box = await canvasBox(page);
  const view = await viewOf(page);
  return box.x + ((ns - view.start) / view.span) * box.width;
}

/** y on the page of the middle of a row of a lane. */
async function yOf(page, title, row = 0) {
  const box = await canvasBox(page);
  const top = await page.evaluate((wanted) => {
    const { layout, scrollTop } = window.meridian.stage.port;
    const at = layout.lanes.findIndex((lane) => lane.title === wanted);
    return at < 0 ? null : layout.top[at] - scrollTop;
  }, title);
  assert(top !== null, `no lane ${title}`);
  return box.y + top + 3 + row * 17 + 7;
}

/** Title of the first lane of a kind. */
const laneOf = (page, kind) => page.evaluate((wanted) =>
  window.meridian.stage.port.layout.lanes.find((lane) => lane.kind === wanted)?.title, kind);

async function drag(page, from, to, y, modifier) {
  if (modifier) await page.keyboard.down(modifier);
  await page.mouse.move(from, y);
  await page.mouse.down();
  await page.mouse.move((from + to) / 2, y, { steps: 4 });
  await page.mouse.move(to, y, { steps: 4 });
  await page.mouse.up();
  if (modifier) await page.keyboard.up(modifier);
}

async function known(browser, url) {
  const page = await openPage(browser, url);
  await idle(page);
  const bounds = await (await fetch(`${url}/api/traces`)).json();
  const id = bounds.traces[0].trace_id;
  const info = await (await fetch(`${url}/api/traces/${id}`)).json();
  const origin = BigInt(info.bounds.origin_ns);
  const relative = (us) => Number(BigInt(us) * 1000n - origin);
  const lane = await laneOf(page, "slices");

  await check("load: lanes, canvas and mode of a known trace", async () => {
    assert(await page.locator(".lane").count() >= 3, "fewer than 3 lanes");
    assert(await paintedShare(page, lane) > 0.2, "the slices lane is empty");
    const counter = await laneOf(page, "counter");
    assert(await paintedShare(page, counter) > 0.1, "the counter lane is empty");
    equal(await page.getAttribute("#mode", "data-mode"), "raw", "mode of a few events");
  });
  await check("load: nothing is fetched from elsewhere", async () => {
    const foreign = page.requested.filter((one) => !one.startsWith(url) && !one.startsWith("data:"));
    equal(foreign, [], "foreign requests");
  });
  await check("hover: the tooltip tells the slice and shifts nothing", async () => {
    const before = await canvasBox(page);
    await page.mouse.move(await xOf(page, relative(3500)), await yOf(page, lane, 1));
    const tip = page.locator(".tip");
    await tip.waitFor();
    assert((await tip.textContent()).includes("inner"), "the tooltip does not name the slice");
    assert((await tip.textContent()).includes("3 ms"), "the tooltip does not tell the duration");
    equal(await canvasBox(page), before, "canvas place");
  });
  await check("details: a click shows name, times and args of the slice", async () => {
    await page.mouse.click(await xOf(page, relative(1500)), await yOf(page, lane, 0));
    const pane = page.locator(".pane .body");
    await page.waitForFunction(() => document.querySelector(".args")?.textContent.includes("bf16"));
    const text = await pane.textContent();
    for (const word of ["outer", "8 ms", "value", "cpu"]) {
      assert(text.includes(word), `no "${word}" in the details`);
    }
    const absolute = (1_000_000n).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
    assert(text.includes(`${absolute} ns`), "no exact absolute start");
  });
  await check("keys: M selects the range of the slice, F fits it", async () => {
    await page.keyboard.press("m");
    await page.waitForFunction(() => location.hash.includes("s="));
    await page.waitForSelector("#selection-summary");
    const summary = await page.textContent("#selection-summary");
    assert(summary.includes("8 ms"), `summary is ${summary}`);
    await page.keyboard.press("f");
    await idle(page);
    const view = await viewOf(page);
    near(view.span, 8e6 * 1.2, 1, "span after F");
  });
  await check("statistics: count, total and self of the selected range", async () => {
    const rows = await page.locator(".stats tbody tr").allTextContents();
    const inner = rows.find((row) => row.startsWith("inner"));
    assert(inner !== undefined, `no row of inner in ${rows}`);
    assert(inner.includes("2") && inner.includes("4 ms") && inner.includes("3 ms"), inner);
    const outer = rows.find((row) => row.startsWith("outer"));
    assert(outer.includes("8 ms") && outer.includes("4 ms"), outer);
  });
  await check("a clean page: no errors in the console", async () => equal(page.troubles, [], "errors"));
  await page.context().close();
}

async function moves(browser, url) {
  const page = await openPage(browser, url);
  await idle(page);
  const box = await canvasBox(page);
  const y = box.y + 40;
  const whole = await viewOf(page);

  await check("zoom: Ctrl+wheel holds the time under the cursor", async () => {
    const x = box.x + box.width * 0.3;
    await page.mouse.move(x, y);
    const before = await viewOf(page);
    const at = before.start + before.span * 0.3;
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -240);
    await page.keyboard.up("Control");
    const after = await viewOf(page);
    assert(after.span < before.span * 0.7, "it did not zoom in");
    near(after.start + after.span * 0.3, at, after.span * 0.002, "time under the cursor");
  });
  await check("zoom: W and S, Backspace takes it back, Ctrl+0 shows all", async () => {
    const before = await viewOf(page);
    await page.waitForTimeout(600);
    await page.keyboard.press("w");
    assert((await viewOf(page)).span < before.span, "W did not zoom in");
    await page.keyboard.press("Backspace");
    equal(await viewOf(page), before, "view after Backspace");
    await page.keyboard.press("s");
    assert((await viewOf(page)).span > before.span, "S did not zoom out");
    await page.keyboard.press("Control+0");
    equal((await viewOf(page)).span, whole.span, "span after Ctrl+0");
  });
  await check("pan: keys, Ctrl+drag, middle drag and Shift+wheel keep the span", async () => {
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -400);
    await page.keyboard.up("Control");
    const before = await viewOf(page);
    const steps = [
      () => page.keyboard.press("d"), () => page.keyboard.press("ArrowRight"),
      () => drag(page, box.x + 500, box.x + 400, y, "Control"),
      async () => {
        await page.keyboard.down("Shift");
        await page.mouse.wheel(0, 120);
        await page.keyboard.up("Shift");
      },
      async () => {
        await page.mouse.move(box.x + 500, y);
        await page.mouse.down({ button: "middle" });
        await page.mouse.move(box.x + 420, y, { steps: 4 });
        await page.mouse.up({ button: "middle" });
      },
    ];
    let last = before;
    for (const [at, step] of steps.entries()) {
      await step();
      const now = await viewOf(page);
      assert(now.start > last.start, `step ${at} did not go later`);
      equal(now.span, before.span, `span of step ${at}`);
      last = now;
    }
    await page.keyboard.press("a");
    assert((await viewOf(page)).start < last.start, "A did not go earlier");
  });
  await check("requests: ten zooms within 2 s, at most two beyond those answered, none at rest",
    async () => {
      await idle(page);
      const asked = [];
      let answered = 0;
      let worst = 0;
      const isWindow = (one) => /\/(window|trace)\?/.test(one.url());
      page.on("request", (one) => {
        if (!isWindow(one)) return;
        asked.push(one);
        worst = Math.max(worst, asked.length - answered);
      });
      page.on("requestfinished", (one) => isWindow(one) && answered++);
      page.on("requestfailed", (one) => isWindow(one) && answered++);
      const groups = await page.evaluate(() => window.meridian.stage.feed.allSlots.length);
      await page.keyboard.down("Control");
      for (let step = 0; step < 10; step++) {
        await page.mouse.wheel(0, step % 2 === 0 ? -80 : 80);
        await page.waitForTimeout(150);
      }
      await page.keyboard.up("Control");
      assert(worst <= 2 * groups, `${worst} unanswered for ${groups} groups`);
      await idle(page);
      const total = asked.length;
      await page.waitForTimeout(1000);
      equal(asked.length, total, "requests after the view rests");
    });
  await check("select: plain drag, Shift+Z zooms into it, Alt+drag zooms at once", async () => {
    await page.keyboard.press("Control+0");
    const x0 = box.x + box.width * 0.25;
    const x1 = box.x + box.width * 0.5;
    await drag(page, x0, x1, y);
    await page.waitForSelector("#selection-summary");
    await page.waitForSelector(".stats tbody tr");
    await page.keyboard.press("Shift+Z");
    near((await viewOf(page)).span, whole.span * 0.25, whole.span * 0.005, "span after Shift+Z");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+0");
    await drag(page, x0, x1, y, "Alt");
    near((await viewOf(page)).span, whole.span * 0.25, whole.span * 0.005, "span after Alt+drag");
    equal(await page.locator("#selection-summary").count(), 0, "selections");
  });
  await check("setting: the wheel zooms and dragging pans", async () => {
    await page.keyboard.press("Control+0");
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByText("The wheel zooms").click();
    await page.keyboard.press("Escape");
    await page.mouse.move(box.x + 300, y);
    await page.mouse.wheel(0, -240);
    const zoomed = await viewOf(page);
    assert(zoomed.span < whole.span, "the wheel did not zoom");
    await drag(page, box.x + 500, box.x + 400, y);
    assert((await viewOf(page)).start > zoomed.start, "dragging did not pan");
  });
  await page.context().close();
}

async function link(browser, url) {
  const page = await openPage(browser, url);
  await idle(page);
  const box = await canvasBox(page);
  await check("link: a reload brings back window, folds, checks, selection and slice", async () => {
    await page.mouse.move(box.x + 400, box.y + 60);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await page.locator(".lane.g .fold").last().click();
    await page.locator(".lane.l input").first().uncheck();
    await drag(page, box.x + 200, box.x + 500, box.y + 60);
    await page.waitForSelector("#selection-summary");
    await idle(page);
    await page.waitForTimeout(400);
    const before = await page.evaluate(() => location.hash);
    const shown = await page.locator(".lane .name").allTextContents();
    const view = await viewOf(page);
    const other = await openPage(browser, `${url}/${before}`);
    await idle(other);
    await other.waitForSelector("#selection-summary");
    await other.waitForTimeout(400);
    equal(await viewOf(other), view, "view");
    equal(await other.evaluate(() => location.hash), before, "link");
    equal(await other.locator(".lane .name").allTextContents(), shown, "lanes");
    equal(await other.locator(".lane.l input").first().isChecked(), false, "check box");
    await other.context().close();
  });
  await page.context().close();
}

async function frame(browser, url) {
  const page = await openPage(browser, url);
  await idle(page);
  await check("tree: folding hides lanes, the filter finds them, unchecking stops asking", async () => {
    const all = await page.locator(".lane").count();
    await page.getByRole("button", { name: "Fold all" }).click();
    assert(await page.locator(".lane").count() < all, "nothing was folded");
    await page.getByRole("button", { name: "Unfold all" }).click();
    equal(await page.locator(".lane").count(), all, "lanes after unfolding");
    await page.keyboard.press("/");
    await page.keyboard.type("no such lane");
    await page.getByText("No lane has").waitFor();
    await page.keyboard.press("Escape");
    equal(await page.locator(".lane").count(), all, "lanes after clearing the filter");
    const lane = await page.evaluate(() => {
      const found = window.meridian.stage.port.layout.lanes.find((one) => one.kind === "slices");
      return { title: found.title, id: found.dataKey };
    });
    const asked = page.waitForRequest((one) => /\/window\?/.test(one.url()));
    await page.locator(".lane", { hasText: lane.title }).first().locator("input").uncheck();
    const tracks = new URL((await asked).url()).searchParams.get("tracks").split(",");
    assert(!tracks.includes(lane.id), `track ${lane.id} is still asked for`);
  });
  await check("panes: dragged by 2 px nothing, by 60 px it follows, kept as a share", async () => {
    const pane = page.locator(".pane");
    const grip = page.locator(".grip-y");
    const size = async () => (await pane.boundingBox()).height;
    const before = await size();
    const at = await grip.boundingBox();
    const press = async (by) => {
      const place = await grip.boundingBox();
      const x = place.x + place.width / 2;
      const y = place.y + place.height / 2;
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x, y - by / 2);
      await page.mouse.move(x, y - by);
      await page.mouse.up();
    };
    equal(at.height, 8, "grip");
    await press(1);
    equal(await size(), before, "height after 1 px");
    await press(60);
    near(await size(), before + 60, 1, "height after 60 px");
    await page.setViewportSize({ width: 1440, height: 430 });
    await page.waitForTimeout(100);
    assert(await size() < before + 30, "the pane does not follow the window");
    await page.setViewportSize(VIEWPORT);
    await page.keyboard.press("q");
    equal(await pane.count(), 0, "panes after Q");
    await page.keyboard.press("q");
    near(await size(), before + 60, 1, "height after Q twice");
  });
  await check("find: hits as typed, next and previous jump, case and whole words", async () => {
    await page.keyboard.press("Control+f");
    await page.waitForSelector("#find-text:focus");
    const ask = async (text) => {
      await page.fill("#find-text", text);
      await page.waitForSelector("#find-told, .pane .empty");
      await page.waitForFunction(() => document.querySelector("#find-told") !== null);
      return page.locator("#find-told").textContent();
    };
    const count = async (where) => {
      const sql = `SELECT count(*) AS n FROM slice WHERE ${where}`;
      const answer = await fetch(new URL("api/query?trace=1", page.url()), { method: "POST",
        headers: { "content-type": "application/json" }, body: JSON.stringify({ sql, format: "csv" }) });
      return Number((await answer.text()).trim().split(/\s+/)[1]);
    };
    const all = await count("name ILIKE '%attention%'");
    assert(all > 10_000, `${all} slices: the list is not cut`);
    const told = await ask("ATTENTION");
    equal(told.replace(/[^0-9]+/g, " ").trim().split(" ").at(-1) !== "", true, told);
    assert(told.includes("of"), told);
    const one = await page.evaluate(async () => {
      const sql = "SELECT name FROM slice WHERE name LIKE 'attention.%' ORDER BY ts, id LIMIT 1";
      const answer = await fetch("api/query?trace=1", { method: "POST",
        headers: { "content-type": "application/json" }, body: JSON.stringify({ sql, format: "csv" }) });
      return (await answer.text()).trim().split(/\s+/)[1];
    });
    const same = await count(`name = '${one}'`);
    await ask(one);
    await page.getByLabel("Whole word").check();
    await page.waitForSelector("#find-told");
    equal(await page.locator("#find-told").textContent(), `${same} hits`, "whole word");
    await page.getByLabel("Match case").check();
    await page.waitForSelector("#find-told");
    equal(await page.locator("#find-told").textContent(), `${same} hits`, "case");
    await page.keyboard.press("Control+0");
    await page.click("#find-next");
    await page.waitForFunction(() => /^1 \//.test(document.querySelector("#find-told").textContent));
    await idle(page);
    const first = await viewOf(page);
    await page.focus("#find-text");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /^2 \//.test(document.querySelector("#find-told").textContent));
    await page.keyboard.press("Shift+Enter");
    await page.waitForFunction(() => /^1 \//.test(document.querySelector("#find-told").textContent));
    equal((await viewOf(page)).start, first.start, "back at the first");
    await page.click("#tab-detail");
    await page.waitForFunction((name) =>
      document.querySelector(".kv")?.textContent.includes(name), one);
    await page.click("#tab-find");
    await page.fill("#find-text", "%");
    await page.waitForFunction(() =>
      document.querySelector(".pane .empty")?.textContent.includes("No slice"));
    await page.fill("#find-text", "");
    await page.keyboard.press("Escape");
    await page.click("#tab-detail");
  });
  await check("help: ? lists the shortcuts, Escape closes", async () => {
    await page.keyboard.press("?");
    await page.getByRole("complementary").waitFor();
    assert((await page.locator(".keys kbd").allTextContents()).includes("Backspace"), "no list");
    const link = page.getByRole("link", { name: "Licences of third-party software" });
    const text = await (await fetch(new URL(await link.getAttribute("href"), page.url()))).text();
    for (const name of ["preact", "uplot", "apache-arrow"]) {
      assert(new RegExp(`^${name} [0-9.]+ \\(`, "m").test(text), `no ${name} in the licences`);
    }
    await page.keyboard.press("Escape");
    equal(await page.getByRole("complementary").count(), 0, "panels");
  });
  await page.context().close();
}

/** Pixels of the accent colour in the overlay. */
const accentPixels = (page) => page.evaluate(() => {
  const { overlay } = window.meridian.stage.canvases;
  const { data } = overlay.getContext("2d").getImageData(0, 0, overlay.width, overlay.height);
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = window.meridian.stage.colors.acc;
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at] === r && data[at + 1] === g && data[at + 2] === b && data[at + 3] > 200) found++;
  }
  return overlay.style.visibility === "hidden" ? 0 : found;
});

async function flows(browser, url) {
  const page = await openPage(browser, url);
  await idle(page);
  const pick = async (name) => {
    await page.keyboard.press("Control+f");
    await page.fill("#find-text", name);
    await page.waitForSelector("#find-told");
    await page.keyboard.press("Enter");
    await page.click("#tab-detail");
    await page.waitForFunction((wanted) =>
      document.querySelector(".kv .strong")?.textContent === wanted, name);
    await page.keyboard.press("Control+0");
    await page.mouse.move(5, 5);
    await idle(page);
  };
  await check("flows: arrows of the picked slice, and their list leads to the other end", async () => {
    await pick("alone");
    equal(await accentPixels(page), 0, "arrow of a slice without flows");
    await pick("launch");
    assert(await accentPixels(page) > 40, "no arrow is drawn");
    equal(await page.locator(".flows li").count(), 1, "flows in the list");
    assert((await page.locator(".flows li").textContent()).startsWith("to kernel"), "list");
    await page.locator(".flows button").click();
    await page.waitForFunction(() =>
      document.querySelector(".kv .strong")?.textContent === "kernel");
    assert((await page.locator(".flows li").textContent()).startsWith("from launch"), "the way back");
    equal(page.troubles, [], "console");
  });
  await page.context().close();
}

async function looks(browser, url) {
  await check("languages: Chinese by the browser, English by the button", async () => {
    const page = await openPage(browser, url, { locale: "zh-CN" });
    await idle(page);
    equal(await page.getAttribute("html", "lang"), "zh-CN", "lang");
    assert((await page.textContent("header")).includes("时间线"), "the header is not Chinese");
    for (const place of ["header", ".tabs", ".tree .head", "footer"]) {
      const text = await page.textContent(place);
      const left = text.replace(/Meridian|SQL|Ctrl|EN|[a-z_-]+json|ns|µs|ms/g, "");
      assert(!/[A-Za-z]{3,}/.test(left), `English left in ${place}: ${left}`);
    }
    await page.getByRole("button", { name: "语言" }).click();
    equal(await page.getAttribute("html", "lang"), "en", "lang after the button");
    assert((await page.textContent("header")).includes("Timeline"), "the header is not English");
    await page.context().close();
  });
  await check("dark: by the system, canvas included, and by the button", async () => {
    const page = await openPage(browser, url, { colorScheme: "dark" });
    await idle(page);
    const background = () => page.evaluate(() => {
      const { base } = window.meridian.stage.canvases;
      const { data } = base.getContext("2d").getImageData(2, base.height - 3, 1, 1);
      return [...data.slice(0, 3)];
    });
    equal(await background(), [0x11, 0x15, 0x1c], "canvas in the dark");
    await page.getByRole("button", { name: "Light or dark" }).click();
    await page.waitForTimeout(100);
    equal(await background(), [255, 255, 255], "canvas in the light");
    equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
      "rgb(255, 255, 255)", "page in the light");
    await page.context().close();
  });
}

export async function chromeTests(browser, files) {
  const small = await serve(files.known);
  await known(browser, small.url);
  await looks(browser, small.url);
  await small.stop();
  const launch = await serve(launchChrome());
  await flows(browser, launch.url);
  await launch.stop();
  if (files.chrome === undefined) return;
  const large = await serve(files.chrome);
  await moves(browser, large.url);
  await link(browser, large.url);
  await frame(browser, large.url);
  await large.stop();
}

// Frame times of the page: 200 visible lanes of a 10^6-event trace in headless Chromium, a path
// of zooms and pans that crosses raw and aggregated, 600 frames after 60 of warm-up.
//   node bench/page-frames.mjs [PROGRAM] [EVENTS]
// Prints median, p99 and worst frame time, how many frames missed a refresh, and the script time
// of a frame. Goal: median <= 16.7 ms, p99 <= 33.4 ms.
import { createRequire } from "node:module";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { percentile, serve, workFolder } from "./lib.mjs";

const top = join(import.meta.dirname, "..");
const program = process.argv[2] ?? join(top, "build/meridian");
const events = Number(process.argv[3] ?? 1_000_000);
const browserPath = process.env.CHROMIUM
  ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
const require = createRequire(join(top, "web/package.json"));
const WARM_UP = 60;
const FRAMES = 600;
const LANES = 200;

/** An event trace of 120 links, 40 threads, 40 counters and 10 flows, always the same. */
function writeTrace(path, count) {
  const links = Array.from({ length: 120 }, (_, at) => `link_c${at}_sw${at % 8}_req`);
  const threads = Array.from({ length: 40 }, (_, at) => `cdma_chip${at}_unit0_t0`);
  const counters = Array.from({ length: 40 }, (_, at) => `cdma_chip${at}_unit0`);
  const flows = Array.from({ length: 10 }, (_, at) => `flow_${at}_${at + 1}`);
  let state = 1;
  const random = () => (state = (state * 1664525 + 1013904223) >>> 0) / 4294967296;
  const time = new Float64Array(count);
  const value = new Float64Array(count);
  const category = new Array(count);
  const component = new Array(count);
  const open = new Set();
  const toggle = (list, on, off) => {
    const name = list[Math.floor(random() * list.length)];
    const busy = open.delete(name);
    if (!busy) open.add(name);
    return [name, busy ? off : on];
  };
  for (let row = 0; row < count; row++) {
    time[row] = row * 4;
    value[row] = Math.floor(random() * 64);
    const kind = random();
    [component[row], category[row]] = kind < 0.7 ? toggle(links, "link_busy", "link_idle")
      : kind < 0.8 ? toggle(threads, "thread_blocked", "thread_unblocked")
        : kind < 0.95 ? [counters[Math.floor(random() * 40)], "ostd_change"]
          : [flows[Math.floor(random() * 10)], "hop_arrive"];
  }
  const { parquetWriteBuffer } = require("hyparquet-writer");
  writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData: [
    { name: "time_ns", data: time, type: "DOUBLE" },
    { name: "category", data: category, type: "STRING" },
    { name: "component", data: component, type: "STRING" },
    { name: "value", data: value, type: "DOUBLE" },
    { name: "detail_json", data: new Array(count).fill(null), type: "STRING", nullable: true },
  ] })));
}

/** Runs in the page: drives the view frame by frame and times the frames. */
function drive({ warmUp, frames }) {
  const { meridian } = window;
  const whole = { ...meridian.view.value };
  const deep = whole.span / 60;
  const times = [];
  const script = [];
  const modes = new Set();
  // Zoom in on a point, pan there, zoom out, pan: twice over the measured frames.
  const viewAt = (share) => {
    const phase = (share * 2) % 1;
    const centre = whole.start + whole.span * (0.3 + 0.4 * share);
    const depth = phase < 0.3 ? phase / 0.3 : phase < 0.5 ? 1
      : phase < 0.8 ? 1 - (phase - 0.5) / 0.3 : 0;
    const span = whole.span * Math.pow(deep / whole.span, depth);
    const shift = phase >= 0.3 && phase < 0.5 ? (phase - 0.3) * 5 * span : 0;
    return { start: centre - span / 2 + shift, span };
  };
  return new Promise((done) => {
    let frame = 0;
    let last = 0;
    const tick = (now) => {
      if (frame > warmUp) {
        times.push(now - last);
        script.push(meridian.frames.lastMs);
      }
      last = now;
      if (frame++ >= warmUp + frames) return done({ times, script, modes: [...modes] });
      modes.add(document.getElementById("mode")?.dataset.mode);
      meridian.view.value = viewAt(Math.max(0, frame - warmUp) / frames);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
}

async function measure(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 960 } });
  await page.addInitScript(() => localStorage.setItem("meridian.settings",
    JSON.stringify({ dense: true, paneOpen: false })));
  await page.goto(url);
  await page.waitForFunction(() => document.getElementById("mode") !== null
    && window.meridian.busy() === false && document.querySelectorAll(".lane").length > 0,
  null, { timeout: 120_000 });
  await page.waitForTimeout(500);
  const lanes = await page.evaluate(() => {
    const { layout, scrollTop, height } = window.meridian.stage.port;
    return layout.lanes.filter((lane, at) => lane.kind !== "group"
      && layout.top[at] < scrollTop + height && layout.top[at + 1] > scrollTop).length;
  });
  const result = await page.evaluate(drive, { warmUp: WARM_UP, frames: FRAMES });
  await page.close();
  return { lanes, ...result };
}

const line = (name, values) => console.log(`${name}: median ${percentile(values, 0.5).toFixed(1)} ms, `
  + `p99 ${percentile(values, 0.99).toFixed(1)} ms, worst ${Math.max(...values).toFixed(1)} ms`);

const { chromium } = require("playwright-core");
const trace = join(workFolder(), "events.parquet");
writeTrace(trace, events);
const server = await serve(program, ["open", trace, "--no-cache", "--no-browser", "--listen", "127.0.0.1:0"]);
const browser = await chromium.launch({
  executablePath: browserPath, headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
try {
  const got = await measure(browser, server.url);
  console.log(`page: ${events} events, ${got.lanes} lanes visible, ${got.times.length} frames, `
    + `modes crossed: ${got.modes.join(", ")}`);
  line("frame", got.times);
  const late = [1.5, 2.5].map((frames) => got.times.filter((ms) => ms > frames * 16.7).length);
  console.log(`frames that took two or more refreshes: ${late[0]}, three or more: ${late[1]}`);
  line("script of a frame", got.script);
  if (got.lanes < LANES) console.log(`note: fewer than ${LANES} lanes were visible`);
} finally {
  await browser.close();
  server.stop();
}

// Helpers of the page tests: the server, the browser, the lines PASS, FAIL, SKIP.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");
export const program = process.env.MERIDIAN ?? join(root, "build/meridian");
export const require = createRequire(join(root, "web/package.json"));
export const scratch = mkdtempSync(join(tmpdir(), "meridian-page-"));

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser"];
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

export function browserPath() {
  const wanted = process.env.CHROMIUM;
  return wanted ?? BROWSERS.find(existsSync) ?? null;
}

export async function launch() {
  const { chromium } = require("playwright-core");
  // launch() gives every run a user-data-dir of its own and removes it.
  return chromium.launch({ executablePath: browserPath(), headless: true, args: FLAGS });
}

/** Runs the program to its end; throws with its words if it fails. */
export function meridian(...args) {
  const run = spawnSync(program, args, { encoding: "utf8" });
  if (run.status !== 0) throw new Error(`meridian ${args.join(" ")}: ${run.stderr || run.error}`);
  return run.stdout;
}

export function generate(kind, events, seed, name) {
  const path = join(scratch, name);
  meridian("gen", kind, "--events", String(events), "--seed", String(seed), path);
  return path;
}

const children = new Set();

/** A server until it listens: its URL and the way to stop it. */
async function start(name, args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  let errors = "";
  child.stderr.on("data", (data) => (errors += data));
  const url = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      const found = /listening on (http:\/\/\S+)/.exec(text);
      if (found) resolve(found[1]);
    });
    child.on("exit", (code) => reject(new Error(`${name} ended with ${code}: ${errors}`)));
  });
  const end = (signal) => new Promise((resolve) => {
    children.delete(child);
    if (child.exitCode !== null) return resolve();
    child.removeAllListeners("exit");
    child.on("exit", resolve);
    child.kill(signal);
  });
  return { url, stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
}

/** `meridian open FILES` on a free port. */
export const serve = (...files) =>
  start("meridian open", ["open", ...files, "--no-browser", "--listen", "127.0.0.1:0"]);

/** `meridian serve` over a data folder, made where it is not there; port 0 is a free one. */
export const serveData = (folder, port = 0, ...options) =>
  start("meridian serve", ["serve", "--data", folder, "--listen", `127.0.0.1:${port}`, ...options]);

export async function cleanUp() {
  for (const child of children) child.kill("SIGTERM");
  rmSync(scratch, { recursive: true, force: true });
}

/** Until every answer is in and a frame has been drawn with it. */
export async function idle(page) {
  await page.waitForFunction(() => {
    const chip = document.getElementById("mode");
    return chip !== null && window.meridian?.busy() === false
      && document.querySelectorAll(".lane").length > 0;
  }, null, { timeout: 30_000 });
  // The quiet time before a question and one more for the mode switch that may follow it.
  for (let round = 0; round < 3; round++) {
    await page.waitForTimeout(120);
    await page.waitForFunction(() => window.meridian.busy() === false, null, { timeout: 30_000 });
  }
  await page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
}

export const viewOf = (page) => page.evaluate(() => ({ ...window.meridian.view.value }));

/** Where the lanes' canvas is on the page. */
export async function canvasBox(page) {
  return page.locator(".glass").boundingBox();
}

/** Share of pixels of a lane's strip in the canvas that are not background. */
export async function paintedShare(page, title) {
  return page.evaluate((wanted) => {
    const { stage } = window.meridian;
    const { layout, scrollTop } = stage.port;
    const at = layout.lanes.findIndex((lane) => lane.title === wanted);
    if (at < 0) return -1;
    const ratio = devicePixelRatio;
    const canvas = stage.canvases.base;
    const top = Math.round((layout.top[at] - scrollTop) * ratio);
    const height = Math.round((layout.top[at + 1] - layout.top[at]) * ratio);
    const { data } = canvas.getContext("2d").getImageData(0, stage.head + top, canvas.width, height);
    const background = window.meridian.stage.scene.theme.bgPixel;
    const pixels = new Uint32Array(data.buffer);
    // The line under a lane is not part of what it shows.
    const count = pixels.length - canvas.width;
    let painted = 0;
    for (let pixel = 0; pixel < count; pixel++) if (pixels[pixel] !== background) painted++;
    return painted / count;
  }, title);
}

let passed = 0;
let failed = 0;
let skipped = 0;

export function skip(name, why) {
  skipped++;
  console.log(`SKIP page ${name}: ${why}`);
}

export async function check(name, run) {
  try {
    await run();
    passed++;
    console.log(`PASS page ${name}`);
  } catch (error) {
    failed++;
    const why = String(error?.message ?? error).split("\n").slice(0, 3).join(" ");
    console.log(`FAIL page ${name}: ${why}`);
  }
}

export function assert(holds, message) {
  if (!holds) throw new Error(message);
}

export function equal(got, wanted, what) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: got ${a}, wanted ${b}`);
}

export function near(got, wanted, tolerance, what) {
  if (!(Math.abs(got - wanted) <= tolerance)) {
    throw new Error(`${what}: got ${got}, wanted ${wanted} within ${tolerance}`);
  }
}

export function summary() {
  console.log(`page tests: ${passed} passed, ${failed} failed, ${skipped} skipped`);
  return failed === 0 ? 0 : 1;
}

// Sessions: list, curves with holes, raw event of a point, report, comparison, a live recording,
// link, languages, a server without a data folder.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, check, equal, meridian, program, scratch, serve, serveData } from "./lib.mjs";
import { openPage } from "./chrome.mjs";

const data = join(scratch, "session-data");
const plot = (page, metric) => page.locator(`.session-plot[data-metric="${metric}"]`);

async function picture(page, name) {
  const folder = process.env.MERIDIAN_PICTURES;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** A process and the GPU once a second; the process is silent for half a minute. */
function ingest(name, factor) {
  const lines = [];
  for (let second = 1; second <= 120; second++) {
    const line = (sourceId, kind, payload) => lines.push(JSON.stringify({ sourceId, kind, payload,
      hostReceiveMonotonicNs: second * 1e9, clockDomain: "none" }));
    if (second < 50 || second > 80)
      line("phone", "proc.gauge", { cpuUsage: second === 20 ? null : 40 * factor, nCpu: 4 });
    line("phone", "gpu", { devicePct: second < 60 ? 0 : 25 * factor });
  }
  lines.push('{"kind":"stopped"}');
  writeFileSync(join(scratch, `${name}.ndjson`), `${lines.join("\n")}\n`);
  meridian("session", "ingest", join(scratch, `${name}.ndjson`), "--out",
    join(data, "sessions", name));
}

async function curves(page) {
  await check("sessions: the list shows what the folder holds", async () => {
    await page.locator(".session-list li").nth(1).waitFor();
    equal(await page.locator("#sessions-total").textContent(), "2 sessions", "total");
    await page.click('[data-name="first"] button');
    await plot(page, "cpu.core.pct").locator("canvas").waitFor();
  });
  await check("sessions: holes are holes, and 0 is a value", async () => {
    const values = (metric) => plot(page, metric).locator(".time-curve").evaluate((box) => ({
      x: [...box.plot.data[0]], y: [...box.plot.data[1]],
    }));
    const cpu = await values("cpu.core.pct");
    assert(!cpu.y.includes(0), "no reading of the CPU is 0");
    equal(cpu.y[cpu.x.indexOf(19)], null, "the reading without a value");
    assert(cpu.x.some((x, at) => x > 49 && x < 79 && cpu.y[at] === null), "the silence");
    assert(!cpu.x.some((x, at) => x > 50 && x < 79 && cpu.y[at] !== null), "nothing made up");
    assert((await values("gpu.device.pct")).y.includes(0), "the GPU's 0");
  });
  await check("sessions: a click on a curve shows the raw event under it", async () => {
    const over = plot(page, "gpu.device.pct").locator(".u-over");
    const box = await over.boundingBox();
    await over.click({ position: { x: box.width / 2, y: box.height / 2 } });
    const text = await page.locator(".raw-event pre").textContent();
    equal(JSON.parse(text).kind, "gpu", "kind");
    await page.locator(".raw-event .flat").click();
  });
  await check("sessions: the filter narrows the curves and stays in the link", async () => {
    await page.fill("#curve-filter", "device");
    await plot(page, "cpu.core.pct").waitFor({ state: "detached" });
    assert(page.url().includes("filter=device"), page.url());
    await page.fill("#curve-filter", "");
  });
  await picture(page, "sessions-curves");
}

async function report(page) {
  await check("sessions: the report keeps three claims apart", async () => {
    await page.click("#session-report");
    equal(await page.locator(".claim").count(), 3, "claims");
    const row = page.locator(".metrics-table tr", { hasText: "cpu.core.pct" });
    equal((await row.locator("td").allTextContents())[4], "40", "mean");
  });
  await check("sessions: two sessions side by side", async () => {
    await page.selectOption("#session-other", "second");
    const row = page.locator(".metrics-table tr", { hasText: "cpu.core.pct" });
    await row.getByText("0.5×").first().waitFor();
    await page.click("#session-curves");
    await page.waitForFunction(() => document.querySelector(
      '[data-metric="cpu.core.pct"] .time-curve')?.plot?.data.length === 3);
    await picture(page, "sessions-compare");
  });
  await check("sessions: the link brings all of it back", async () => {
    await page.reload();
    await page.waitForFunction(() => document.querySelector(
      '[data-metric="cpu.core.pct"] .time-curve')?.plot?.data.length === 3);
    equal(await page.locator("#session-other").inputValue(), "second", "the other one");
  });
  await check("sessions: in Chinese", async () => {
    await page.getByRole("button", { name: "Language" }).click();
    await page.getByRole("tab", { name: "报告" }).waitFor();
    await page.getByRole("button", { name: "语言" }).click();
  });
}

async function running(page) {
  const recorder = spawn(program, ["record", "--out", join(data, "sessions/now"), "--every", "50ms",
    "--publish", "250ms", "--", "sh", "-c", "while :; do :; done"], { stdio: "ignore" });
  const over = new Promise((done) => recorder.on("exit", done));
  try {
    await check("sessions: a recording appears and its curves grow", async () => {
      await page.locator('[data-name="now"] .recording').waitFor({ timeout: 15_000 });
      await page.click('[data-name="now"] button');
      await page.locator(".live-line").waitFor();
      const points = () => page.evaluate(() => document.querySelector(
        '[data-metric="cpu.core.pct"] .time-curve')?.plot?.data[0].length ?? 0);
      const first = await points();
      await page.waitForFunction((before) => (document.querySelector(
        '[data-metric="cpu.core.pct"] .time-curve')?.plot?.data[0].length ?? 0) > before + 3, first);
      await picture(page, "sessions-live");
    });
  } finally {
    recorder.kill("SIGINT");
    await over;
  }
  await check("sessions: sealed, it is read as a whole", async () => {
    await page.locator('[data-name="now"] .completed').waitFor({ timeout: 15_000 });
    await page.locator(".live-line").waitFor({ state: "detached" });
    await page.click("#session-report");
    await page.getByText("sealed as completed").waitFor();
  });
}

/** A session of a busy machine has a source a process, and tens of thousands of curves. */
async function many(page) {
  const lines = [];
  for (let at = 0; at < 12_000; at++)
    lines.push(JSON.stringify({ sourceId: `p${at}`, kind: "gpu", payload: { devicePct: at % 100 },
      hostReceiveMonotonicNs: 1e9 + at * 1e6, clockDomain: "none" }));
  writeFileSync(join(scratch, "many.ndjson"), `${lines.join("\n")}\n{"kind":"stopped"}\n`);
  meridian("session", "ingest", join(scratch, "many.ndjson"), "--out",
    join(data, "sessions/many"));
  await check("sessions: tens of thousands of curves, of which some are drawn", async () => {
    await page.click('[data-name="many"] button');
    await page.click("#session-curves");
    await page.locator(".sub-head", { hasText: /12\s000/ }).waitFor();
    equal(await page.locator(".session-plot").count(), 24, "plots");
    await page.fill("#curve-filter", "p11999");
    await page.locator('[data-source="p11999"]').waitFor();
    equal(await page.locator(".session-plot").count(), 1, "plots of one source");
    await page.fill("#curve-filter", "");
  });
  await check("sessions: and their report", async () => {
    await page.click("#session-report");
    await page.locator(".metrics-table .more").waitFor();
    equal(await page.locator(".metrics-table .more").textContent(), "+ 11500", "more rows");
    const more = await page.locator(".gaps li").last().textContent();
    assert(/^\+ 11\s500$/.test(more), more);
  });
}

async function recordHere(page) {
  await check("sessions: a recording of a process is started and stopped on the page", async () => {
    const target = spawn("sh", ["-c", "while :; do :; done"], { stdio: "ignore" });
    try {
      await page.locator(".record summary").click();
      await page.selectOption("#record-what", "pid");
      await page.fill("#record-pid", "0");
      await page.click("#record-start");
      await page.getByText("The process id is a whole number from 1 on.").waitFor();
      await page.fill("#record-pid", String(target.pid));
      await page.click("#record-start");
      await page.locator("#record-stop").waitFor();
      await page.locator(".session-head .recording").waitFor();
      await page.click("#session-curves");
      await plot(page, "cpu.core.pct").locator("canvas").first().waitFor({ timeout: 15_000 });
      await picture(page, "sessions-record");
      await page.click("#record-stop");
      await page.locator("#record-stop").waitFor({ state: "detached", timeout: 15_000 });
      await page.locator(".session-head .completed").waitFor();
    } finally {
      target.kill("SIGKILL");
    }
  });
  await check("sessions: a process that is not there is said so", async () => {
    await page.fill("#record-pid", "2147483647");
    await page.click("#record-start");
    await page.locator(".record .error").waitFor();
    const told = await page.locator(".record .error").textContent();
    assert(told.includes("2147483647"), told);
    page.troubles = page.troubles.filter((one) => !/404/.test(one));
  });
}

export async function sessionTests(browser) {
  mkdirSync(join(data, "sessions"), { recursive: true });
  ingest("first", 1);
  ingest("second", 2);
  const server = await serveData(data);
  try {
    const page = await openPage(browser, `${server.url}/#sessions`);
    await curves(page);
    await report(page);
    await running(page);
    await recordHere(page);
    await many(page);
    await check("sessions: nothing went wrong in the page", () => {
      equal(page.troubles.join("; "), "", "troubles");
    });
    await page.context().close();
    const dark = await openPage(browser, `${server.url}/#sessions&session=first`,
      { colorScheme: "dark" });
    await plot(dark, "cpu.core.pct").locator("canvas").waitFor();
    await picture(dark, "sessions-dark");
    await dark.context().close();
  } finally {
    await server.stop();
  }
  const file = join(scratch, "one.json");
  writeFileSync(file, '[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":5,"name":"a"}]');
  const bare = await serve(file);
  try {
    await check("sessions: a server without a data folder says so", async () => {
      const page = await openPage(browser, `${bare.url}/#sessions`);
      await page.getByText("This server has no data folder").waitFor();
      await page.context().close();
    });
  } finally {
    await bare.stop();
  }
}

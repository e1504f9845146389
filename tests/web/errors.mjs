// Losses and every failure: told where it happened, with a way on.
import { assert, check, equal, idle, paintedShare, serve, skip } from "./lib.mjs";
import { openPage } from "./chrome.mjs";

async function losses(browser, url) {
  const page = await openPage(browser, url);
  await idle(page);
  await check("losses: badge, tab, place and advice", async () => {
    const badge = page.locator("#losses");
    assert(/\d/.test(await badge.textContent()), "no badge");
    await badge.click();
    const rows = await page.locator(".losses tbody tr").allTextContents();
    assert(rows.length >= 2, `rows: ${rows}`);
    assert(rows.some((row) => row.includes("broken.json")), "no file named");
    const told = await page.evaluate(async () => {
      const list = await (await fetch("api/traces")).json();
      return (await fetch(`api/traces/${list.traces[0].trace_id}`)).json();
    });
    equal(rows.length, told.losses.length, "rows");
    for (const loss of told.losses) {
      if (loss.advice) {
        assert(rows.some((row) => row.includes(loss.advice)), `no advice of ${loss.name}`);
      }
    }
  });
  await page.context().close();
}

async function failures(browser, url) {
  const page = await openPage(browser, url);
  await idle(page);
  await check("failure: a window that cannot be read is told on its lanes, retry mends it",
    async () => {
      const lane = await page.evaluate(() =>
        window.meridian.stage.port.layout.lanes.find((one) => one.kind === "slices").title);
      await page.route(/\/window\?/, (route) => route.abort());
      await page.keyboard.press("w");
      await page.locator(".lane-error").first().waitFor();
      assert(await paintedShare(page, lane) > 0.05, "the old picture is gone");
      await page.unroute(/\/window\?/);
      for (let left = 10; left > 0 && await page.locator(".lane-error button").count() > 0; left--) {
        await page.locator(".lane-error button").first().click();
        await idle(page);
      }
      equal(await page.locator(".lane-error").count(), 0, "errors after retry");
    });
  await check("failure: no server at the start, retry connects", async () => {
    const other = await openPage(browser, "about:blank");
    await other.route(/\/api\//, (route) => route.abort());
    await other.goto(url);
    await other.getByRole("alert").waitFor();
    await other.unroute(/\/api\//);
    await other.getByRole("button", { name: "Retry" }).click();
    await idle(other);
    await other.context().close();
  });
  await check("failure: a path that may not be opened is refused in words", async () => {
    await page.getByRole("button", { name: "Open…" }).click();
    await page.getByRole("textbox").last().fill("/nowhere/at/all.json");
    await page.getByRole("button", { name: "Open", exact: true }).click();
    const alert = page.locator(".panel [role=alert]");
    await alert.waitFor();
    assert((await alert.textContent()).includes("/nowhere/at/all.json"), "the path is not named");
  });
  await page.context().close();
}

async function opening(browser, files) {
  if (files.slow === undefined) return;
  const server = await serve(files.slow);
  const page = await openPage(browser, "about:blank");
  await page.goto(server.url, { waitUntil: "commit" });
  const seen = await page.waitForFunction(() => document.querySelector(".files progress") !== null
    || document.getElementById("mode") !== null, null, { timeout: 30_000 })
    .then(() => page.locator(".files progress").count());
  if (seen === 0) skip("opening: progress by file", "the file was open before the page was");
  else {
    await check("opening: progress by file, then lanes without a reload", async () => {
      await idle(page);
      equal(await page.locator(".files progress").count(), 0, "progress bars");
    });
  }
  await check("opening: a second trace through the panel", async () => {
    await idle(page);
    await page.getByRole("button", { name: "Open…" }).click();
    await page.getByRole("textbox").last().fill(files.known);
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.locator(".lane", { hasText: "main loop" }).first().waitFor();
    await idle(page);
    equal(await page.locator(".panel").count(), 0, "panels");
    assert((await page.title()).startsWith("known.json"), await page.title());
  });
  await page.context().close();
  await server.stop();
}

export async function errorTests(browser, files) {
  await opening(browser, files);
  const broken = await serve(files.broken);
  await losses(browser, broken.url);
  await broken.stop();
  const sound = await serve(files.known);
  await failures(browser, sound.url);
  await sound.stop();
}

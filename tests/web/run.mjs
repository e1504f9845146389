// Page tests: real server, real traces, Debian's Chromium.
import { existsSync } from "node:fs";
import {
  browserPath, check, cleanUp, generate, launch, program, skip, summary,
} from "./lib.mjs";
import { chromeTests } from "./chrome.mjs";
import { errorTests } from "./errors.mjs";
import { eventTests } from "./events.mjs";
import { mergeTests } from "./merge.mjs";
import { resultTests } from "./results.mjs";
import { sessionTests } from "./sessions.mjs";
import { brokenChrome, brokenEvents, knownChrome } from "./traces.mjs";

const watchdog = setTimeout(() => {
  console.log("FAIL page: not done after 8 minutes");
  process.exit(1);
}, 480_000);

async function main() {
  if (!existsSync(program)) {
    skip("all", `${program} was not built`);
    return summary();
  }
  if (browserPath() === null) {
    skip("all", "no Chromium (Debian: apt-get install chromium)");
    return summary();
  }
  const browser = await launch();
  try {
    const files = {
      known: knownChrome(), broken: brokenChrome(), brokenEvents: brokenEvents(),
    };
    await check("test traces are generated", async () => {
      files.chrome = generate("chrome-json", 200_000, 7, "chrome.json");
      files.slow = generate("chrome-json", 2_000_000, 3, "slow.json");
      files.events = generate("event-trace", 400_000, 7, "events.parquet");
    });
    await chromeTests(browser, files);
    await eventTests(browser, files);
    await errorTests(browser, files);
    await mergeTests(browser);
    await resultTests(browser, files);
    await sessionTests(browser);
  } finally {
    await browser.close();
    await cleanUp();
  }
  return summary();
}

process.exitCode = await main().catch((error) => {
  console.log(`FAIL page: ${error.stack ?? error}`);
  return 1;
});
clearTimeout(watchdog);

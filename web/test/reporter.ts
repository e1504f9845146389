import type { Reporter, TestModule } from "vitest/node";

/** Prints one `PASS name` or `FAIL name: why` line a test, which the
 * project's test script adds up with those of the other suites. */
export default class LineReporter implements Reporter {
  private passed = 0;
  private failed = 0;

  onTestModuleEnd(module: TestModule): void {
    const file = module.relativeModuleId;
    for (const error of module.errors()) this.line("FAIL", file, error.message);
    for (const test of module.children.allTests()) {
      const result = test.result();
      const name = `web/${file} ${test.fullName}`;
      if (result.state === "failed") {
        this.line("FAIL", name, result.errors[0]?.message ?? "no reason given");
      } else if (result.state === "passed") this.line("PASS", name, "");
      else console.log(`SKIP ${name}`);
    }
  }

  onTestRunEnd(): void {
    console.log(`web unit tests: ${this.passed} passed, ${this.failed} failed`);
  }

  private line(word: "PASS" | "FAIL", name: string, why: string): void {
    if (word === "PASS") this.passed++;
    else this.failed++;
    console.log(why === "" ? `${word} ${name}` : `${word} ${name}: ${why.split("\n")[0]}`);
  }
}

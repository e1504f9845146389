import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Licences of the packages whose code is in the bundle, as one text beside it. */

interface Chunk {
  readonly type: string;
  readonly modules?: Readonly<Record<string, unknown>>;
}

/** The part of the bundler's plugin interface that is used here. */
interface Plugin {
  readonly name: string;
  generateBundle(
    this: { emitFile(file: { type: "asset"; fileName: string; source: string }): string },
    options: unknown, bundle: Readonly<Record<string, Chunk>>,
  ): void;
}

const LISTED = join(import.meta.dirname, "../docs/third-party.md");

function packageOf(id: string): string | null {
  const at = id.lastIndexOf("/node_modules/");
  if (at < 0) return null;
  const parts = id.slice(at + "/node_modules/".length).split("/");
  const depth = parts[0]!.startsWith("@") ? 2 : 1;
  return id.slice(0, at) + ["/node_modules", ...parts.slice(0, depth)].join("/");
}

function textsOf(folder: string): string {
  const names = readdirSync(folder).filter((name) => /^(licen[cs]e|notice)(\.|$)/i.test(name)).sort();
  if (!names.some((name) => /^licen/i.test(name))) {
    throw new Error(`${folder}: has no licence text, one is needed for licenses.txt`);
  }
  return names.map((name) => readFileSync(join(folder, name), "utf8").trim()).join("\n\n");
}

function entryOf(folder: string, listed: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8")) as Record<string, string>;
  if (!listed.includes(`| \`${name}\` | ${license} |`)) {
    throw new Error(`docs/third-party.md: has no row "| \`${name}\` | ${license} |"`);
  }
  return `${name} ${version} (${license})\n${"=".repeat(72)}\n\n${textsOf(folder)}\n`;
}

/** One for the page and one for its worker, which is bundled before the page ends. */
export function licenses(): { page: Plugin; worker: Plugin } {
  const folders = new Set<string>();
  const collect = (bundle: Readonly<Record<string, Chunk>>): void => {
    for (const chunk of Object.values(bundle)) {
      for (const id of Object.keys(chunk.modules ?? {})) {
        const folder = packageOf(id.replace(/^\0/, "").replace(/\?.*$/, ""));
        if (folder !== null && existsSync(join(folder, "package.json"))) folders.add(folder);
      }
    }
  };
  return {
    worker: { name: "licenses-worker", generateBundle: (_, bundle) => collect(bundle) },
    page: {
      name: "licenses",
      generateBundle(_, bundle) {
        collect(bundle);
        const listed = readFileSync(LISTED, "utf8");
        const entries = [...folders].sort().map((folder) => entryOf(folder, listed));
        const source = `The page of Meridian holds code of these packages.\n\n${entries.join("\n\n")}`;
        this.emitFile({ type: "asset", fileName: "licenses.txt", source });
      },
    },
  };
}

import { computed } from "@preact/signals";
import { settings } from "./store.ts";
import { formatCount } from "../base/num.ts";
import { en } from "./words/en.ts";
import { zh } from "./words/zh.ts";

export type Word = keyof typeof en;
export type Language = "en" | "zh";

export const DICTIONARIES: Readonly<Record<Language, Readonly<Record<Word, string>>>> = { en, zh };

/** Language in use: the setting, else the browser's. */
export const language = computed<Language>(() => {
  const wanted = settings.value.language;
  if (wanted !== "system") return wanted;
  const browser = typeof navigator === "undefined" ? "en" : navigator.language;
  return browser.toLowerCase().startsWith("zh") ? "zh" : "en";
});

/** The text of a key with `{name}` places filled. Reads the language signal. */
export function t(word: Word, fill?: Readonly<Record<string, string | number>>): string {
  const text = DICTIONARIES[language.value][word];
  if (fill === undefined) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(fill[name] ?? whole));
}

type Counted = Extract<Word, `${string}.one`> extends `${infer Stem}.one` ? Stem : never;

/** A counted text: `1 lane`, `12 lanes`. */
export function tn(stem: Counted, n: number): string {
  return n === 1 ? t(`${stem}.one`) : t(`${stem}.many`, { n: formatCount(n) });
}

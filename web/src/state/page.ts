import { signal } from "@preact/signals";

/** Which page is shown. The link decides: `#results…`, `#sessions…`, else it is the timeline. */

export type Page = "timeline" | "results" | "sessions";

/** Pages in the order of the switch. */
export const PAGES: readonly Page[] = ["timeline", "results", "sessions"];

export function pageOf(hash: string): Page {
  const name = /^#?(\w+)/.exec(hash)?.[1] ?? "";
  return PAGES.find((one) => one === name) ?? "timeline";
}

/** Written by app/session from the link. */
export const page = signal<Page>(typeof location === "undefined" ? "timeline"
  : pageOf(location.hash));

/** The last link of each page: the switch goes back to where one was. */
const lastLinks = new Map<Page, string>();

export function keepPageLink(of: Page, link: string): void {
  lastLinks.set(of, link);
}

export function pageLink(of: Page): string {
  return lastLinks.get(of) ?? `#${of}`;
}

/** Goes to a page as a step of its own in the browser's history. */
export function goToPage(to: Page, link = pageLink(to)): void {
  if (page.peek() === to && location.hash === link) return;
  history.pushState(null, "", link);
  page.value = to;
}

import { formatDuration } from "../base/time.ts";
import { changeSettings, resetView, zoom } from "../state/actions.ts";
import { PAGES, goToPage, page, pageLink } from "../state/page.ts";
import { bounds, calmView, clocks, laneFilter, panel, settings } from "../state/store.ts";
import type { Panel } from "../state/store.ts";
import { ZOOM_STEP } from "../state/window.ts";
import { language, t } from "../state/words.ts";

const BUTTON_ZOOM = ZOOM_STEP ** 4;

function Brand() {
  return (
    <span class="brand">
      <svg width="17" height="17" viewBox="0 0 17 17" fill="none" stroke="currentColor"
        stroke-width="1.5" aria-hidden="true">
        <circle cx="8.5" cy="8.5" r="7" />
        <path d="M8.5 1.5c3 2 3 12 0 14M8.5 1.5c-3 2-3 12 0 14" opacity=".45" />
        <path d="M8.5 0v17" stroke="var(--acc)" stroke-width="2" />
      </svg>
      Meridian
    </span>
  );
}

function toggle(which: Panel): void {
  panel.value = panel.peek() === which ? "none" : which;
}

/** Whether the page is dark now, whatever decided it. */
export function isDark(): boolean {
  const { theme } = settings.peek();
  if (theme !== "system") return theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function Zoom() {
  const total = formatDuration(bounds.value.end - bounds.value.start);
  return (
    <span class="zoom" role="group">
      <button class="flat" title={t("head.zoomOut")} aria-label={t("head.zoomOut")}
        onClick={() => zoom(1 / BUTTON_ZOOM, 0.5)}>−</button>
      <output title={t("head.span", { total })}>{formatDuration(calmView.value.span, 4)}</output>
      <button class="flat" title={t("head.zoomIn")} aria-label={t("head.zoomIn")}
        onClick={() => zoom(BUTTON_ZOOM, 0.5)}>+</button>
    </span>
  );
}

function PageSwitch() {
  return (
    <nav class="nav" aria-label={t("nav.main")}>
      {PAGES.map((one) => (
        <a
          key={one} href={pageLink(one)} class={page.value === one ? "on" : ""}
          aria-current={page.value === one ? "page" : undefined}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            if (page.peek() !== one) panel.value = "none";
            goToPage(one);
          }}
        >
          {t(`nav.${one}`)}
        </a>
      ))}
    </nav>
  );
}

function TimelineTools() {
  return (
    <>
      <button class="btn" aria-expanded={panel.value === "open"} onClick={() => toggle("open")}>
        {t("head.open")}
      </button>
      {clocks.value !== null && clocks.value.files.length > 0 && (
        <button class="btn" id="clocks" aria-expanded={panel.value === "clocks"}
          onClick={() => toggle("clocks")}>{t("clocks.title")}</button>
      )}
      <span class="grow" />
      <label class="search">
        <input
          id="lane-filter" type="search" placeholder={t("head.filter")} spellcheck={false}
          aria-label={t("head.filter")} value={laneFilter.value}
          onInput={(event) => (laneFilter.value = event.currentTarget.value)}
        />
        <kbd>/</kbd>
      </label>
      <Zoom />
      <button class="btn" onClick={resetView}>{t("head.reset")} <kbd>Ctrl 0</kbd></button>
    </>
  );
}

function ResultsTools() {
  return (
    <>
      <button class="btn" id="new-sweep" aria-expanded={panel.value === "sweep"}
        onClick={() => toggle("sweep")}>{t("sweep.title")}</button>
      <span class="grow" />
    </>
  );
}

export function Header() {
  return (
    <header>
      <Brand />
      <PageSwitch />
      {page.value === "timeline" && <TimelineTools />}
      {page.value === "results" && <ResultsTools />}
      {page.value === "sessions" && <span class="grow" />}
      <button class="btn" aria-label={t("head.language")} title={t("head.language")}
        onClick={() => changeSettings({ language: language.peek() === "en" ? "zh" : "en" })}>
        中 / EN
      </button>
      <button class="btn icon" aria-label={t("head.theme")} title={t("head.theme")}
        onClick={() => changeSettings({ theme: isDark() ? "light" : "dark" })}>◐</button>
      <button class="btn icon" aria-label={t("head.settings")} title={t("head.settings")}
        aria-expanded={panel.value === "settings"} onClick={() => toggle("settings")}>⚙</button>
      <button class="btn icon" aria-label={t("head.help")} title={t("head.help")}
        aria-expanded={panel.value === "help"} onClick={() => toggle("help")}>?</button>
    </header>
  );
}

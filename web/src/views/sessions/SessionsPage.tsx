import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { formatCount } from "../../base/num.ts";
import {
  live, loadError, loaded, sessionList, sessionsError, sessionsLink,
} from "../../state/sessions.ts";
import { changeSessionsLink, followSessions, readList } from "../../state/sessionsLoad.ts";
import { t, tn } from "../../state/words.ts";
import { sessions } from "../../wire/sessions.ts";
import type { SessionSummary } from "../../wire/sessions.ts";
import { Curves } from "./Curves.tsx";
import { Record, Stop } from "./Record.tsx";
import { Report } from "./Report.tsx";
import { started, stateText } from "./text.ts";
import "./sessions.css";

/** The sessions page: list at the left, the shown session at the right. */

const COMMAND = "meridian record -- ./app";

function Row({ one }: { one: SessionSummary }) {
  const on = sessionsLink.value.session === one.name;
  return (
    <li class={on ? "on" : ""} data-name={one.name}>
      <button onClick={() => changeSessionsLink({ session: one.name, other: null }, true)}
        aria-current={on ? "true" : undefined}>
        <b>{one.name}</b>
        <span class={`state-chip ${one.state}`}>{stateText(one.state)}</span>
        <small>{started(one.identity)}</small>
      </button>
    </li>
  );
}

function List() {
  const list = sessionList.value;
  const error = sessionsError.value;
  if (error !== null) {
    return (
      <div class="list-state" role="alert">
        <h2>{error.code === "no_store" ? t("session.noStore") : t("session.failed")}</h2>
        <p class="message">{error.code === "no_store" ? t("results.noStoreNote") : error.message}</p>
        <button class="btn primary" onClick={() => void readList()}>{t("state.retry")}</button>
      </div>
    );
  }
  if (list === null) return <div aria-busy="true" />;
  if (list.length === 0) {
    return (
      <div class="list-state">
        <h2>{t("session.empty")}</h2>
        <p class="dim">{t("session.emptyNote")}</p>
        <code>{COMMAND}</code>
      </div>
    );
  }
  return <ul class="session-list">{list.map((one) => <Row key={one.name} one={one} />)}</ul>;
}

function Tabs() {
  const { show } = sessionsLink.value;
  return (
    <div class="tabs" role="tablist">
      {(["curves", "report"] as const).map((one) => (
        <button key={one} role="tab" id={`session-${one}`} aria-selected={show === one}
          class={show === one ? "on" : ""} onClick={() => changeSessionsLink({ show: one })}>
          {t(`session.${one}`)}
        </button>
      ))}
    </div>
  );
}

function Compare({ name }: { name: string }) {
  const others = (sessionList.value ?? []).filter((one) => one.name !== name);
  return (
    <label class="compare">
      {t("session.compare")}
      <select id="session-other" value={sessionsLink.value.other ?? ""}
        onChange={(event) => changeSessionsLink({ other: event.currentTarget.value || null })}>
        <option value="">{t("session.none")}</option>
        {others.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}
      </select>
    </label>
  );
}

function Shown({ name }: { name: string }) {
  const summary = sessionList.value?.find((one) => one.name === name) ?? null;
  const error = loadError.value;
  const now = live.value;
  const running = now !== null && !now.over;
  return (
    <section class="session" aria-label={name}>
      <div class="session-head">
        <h2>{name}</h2>
        {summary !== null && (
          <span class={`state-chip ${summary.state}`}>{stateText(summary.state)}</span>
        )}
        <Tabs />
        <span class="grow" />
        <Stop name={name} />
        <Compare name={name} />
        <a class="btn" href={sessions.reportUrl(name, "html")} target="_blank" rel="noreferrer">
          {t("session.html")}
        </a>
      </div>
      {error !== null && <p class="error" role="alert">{error.message}</p>}
      {loaded.value === null && error === null && <div class="loading" role="status"
        aria-label={t("state.loading")} />}
      {running && now.frame !== null && (
        <p class="live-line" role="status">
          {t("session.liveLine", {
            events: formatCount(now.frame.events), samples: formatCount(now.frame.samples),
            gaps: formatCount(now.frame.gaps), errors: formatCount(now.frame.decodeErrors),
          })}
        </p>
      )}
      {sessionsLink.value.show === "curves" ? <Curves /> : <Report summary={summary} />}
    </section>
  );
}

export function SessionsPage({ panels }: { panels: ComponentChildren }) {
  useEffect(followSessions, []);
  const { session } = sessionsLink.value;
  const list = sessionList.value;
  return (
    <div class="page sessions" style={{ gridTemplateRows: "minmax(0, 1fr) 24px" }}>
      <main>
        <nav class="sessions-list" aria-label={t("nav.sessions")}>
          {list !== null && <Record />}
          <List />
        </nav>
        {session === null
          ? <div class="list-state"><p class="dim">{t("session.choose")}</p></div>
          : <Shown key={session} name={session} />}
        {panels}
      </main>
      <footer aria-label={t("status.label")}>
        {list !== null && <span id="sessions-total">{tn("session.total", list.length)}</span>}
        <span class="grow" />
      </footer>
    </div>
  );
}

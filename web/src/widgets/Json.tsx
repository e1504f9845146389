import { useState } from "preact/hooks";
import { px } from "../base/css.ts";
import { groupDigits } from "../base/num.ts";

/** A JSON value as a tree that unfolds; every value can be selected and copied. */

/** Objects with at most this many members start unfolded. */
const OPEN_BELOW = 12;
/** Members drawn at once. */
const MOST_MEMBERS = 500;

function scalar(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return groupDigits(String(value));
  return JSON.stringify(value) ?? "undefined";
}

function Member({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  const nested = typeof value === "object" && value !== null;
  const entries = nested ? Object.entries(value) : [];
  const [open, setOpen] = useState(depth < 2 && entries.length <= OPEN_BELOW);
  if (!nested) {
    return (
      <div class="json-row" style={{ paddingLeft: px(depth * 14) }}>
        <b>{name}</b><span>{scalar(value)}</span>
      </div>
    );
  }
  const count = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <>
      <div class="json-row" style={{ paddingLeft: px(depth * 14) }}>
        <button class="json-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "▾" : "▸"} <b>{name}</b>
        </button>
        <span class="dim">{count}</span>
      </div>
      {open && entries.slice(0, MOST_MEMBERS).map(([key, one]) => (
        <Member key={key} name={key} value={one} depth={depth + 1} />
      ))}
      {open && entries.length > MOST_MEMBERS && (
        <div class="json-row dim">+ {entries.length - MOST_MEMBERS}</div>
      )}
    </>
  );
}

export function Json({ value }: { value: unknown }) {
  if (typeof value !== "object" || value === null) {
    return <div class="json-row"><span>{scalar(value)}</span></div>;
  }
  const entries = Object.entries(value).slice(0, MOST_MEMBERS);
  return (
    <div class="json">
      {entries.map(([key, one]) => <Member key={key} name={key} value={one} depth={0} />)}
    </div>
  );
}

/** Widths and cut forms of texts, so that a steady frame measures and builds nothing. */

interface Fitted {
  readonly width: number;
  readonly cuts: (string | undefined)[];
}

/** Texts kept before the cache starts anew. */
const MAX_TEXTS = 20_000;
/** The cut is estimated from the mean character; this much is left as reserve. */
const RESERVE = 0.96;
/** Shorter cuts spend no room on an ellipsis. */
const ELLIPSIS_FROM = 8;

export class TextFitter {
  private readonly known = new Map<string, Fitted>();

  constructor(private readonly measure: (text: string) => number) {}

  /** `text`, or its beginning with an ellipsis that fits `room`, or "" if nothing does. */
  fit(text: string, room: number): string {
    let entry = this.known.get(text);
    if (entry === undefined) {
      if (this.known.size >= MAX_TEXTS) this.known.clear();
      entry = { width: this.measure(text), cuts: [] };
      this.known.set(text, entry);
    }
    if (entry.width <= room) return text;
    const count = Math.floor((room / entry.width) * text.length * RESERVE);
    if (count < 1) return "";
    let cut = entry.cuts[count];
    if (cut === undefined) {
      cut = count < ELLIPSIS_FROM ? text.slice(0, count) : `${text.slice(0, count - 1)}…`;
      entry.cuts[count] = cut;
    }
    return cut;
  }
}

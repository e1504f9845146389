/** Order of texts for people: numbers inside by their value. One collator for all, since each call
 * of localeCompare with options makes its own. */
const texts = new Intl.Collator(undefined, { numeric: true });

export function compareTexts(a: string, b: string): number {
  return texts.compare(a, b);
}

/** A CSS length, or nothing. */
export function px(value: number): string;
export function px(value: number | undefined): string | undefined;
export function px(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${value}px`;
}

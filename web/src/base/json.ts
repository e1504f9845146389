/** JSON with whole numbers of any size: bigint becomes its digits. */
export function stringify(value: unknown, indent?: number): string {
  const mark = (_: string, one: unknown): unknown =>
    (typeof one === "bigint" ? `\u0000${one}\u0000` : one);
  return JSON.stringify(value, mark, indent).replace(/"\\u0000(-?\d+)\\u0000"/g, "$1");
}

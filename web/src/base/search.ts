/** First index in [from, to) whose value is >= `value`; `to` if none. */
export function lowerBound(
  array: Float64Array, value: number, from: number, to: number,
): number {
  let low = from;
  let high = to;
  while (low < high) {
    const mid = (low + high) >>> 1;
    if (array[mid]! < value) low = mid + 1;
    else high = mid;
  }
  return low;
}

/** First index in [from, to) whose value is > `value`; `to` if none. */
export function upperBound(
  array: Float64Array, value: number, from: number, to: number,
): number {
  let low = from;
  let high = to;
  while (low < high) {
    const mid = (low + high) >>> 1;
    if (array[mid]! <= value) low = mid + 1;
    else high = mid;
  }
  return low;
}

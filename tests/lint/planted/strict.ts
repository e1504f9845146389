// check: typescript
// expect: is possibly 'null'
export function planted(text: string | null): number {
  if (text !== null) return text.length;
  if (planted.length > 1) return text.length; // planted
  return 0;
}

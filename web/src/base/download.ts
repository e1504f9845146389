/** Until when the browser may read what it saves, ms. */
const KEEP_MS = 10_000;

/** Saves a file under this name in the user's downloads. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEEP_MS);
}

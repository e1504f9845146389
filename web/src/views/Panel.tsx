import type { ComponentChildren } from "preact";
import { panel } from "../state/store.ts";
import { t } from "../state/words.ts";

/** A panel that slides in at the right. */
export function Panel({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <aside class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        <button class="flat" aria-label={t("help.close")} onClick={() => (panel.value = "none")}>
          ✕
        </button>
      </div>
      {children}
    </aside>
  );
}

import { formatCount, groupDigits } from "../base/num.ts";
import { trace } from "../state/store.ts";
import { t } from "../state/words.ts";
import type { Word } from "../state/words.ts";
import type { Loss } from "../wire/types.ts";

/** What could not be taken from the files, with what to do about it. */

const SEVERITIES: readonly string[] = ["info", "warning", "error", "data_loss"];

export function severityWord(severity: string): string {
  return SEVERITIES.includes(severity) ? t(`severity.${severity}` as Word) : severity;
}

function where(loss: Loss): string {
  const file = loss.file?.split("/").at(-1) ?? "";
  const offset = loss.offset ?? null;
  if (offset === null || Number(offset) < 0) return file;
  return t("loss.at", { file, offset: groupDigits(String(offset)) });
}

function Row({ loss }: { loss: Loss }) {
  return (
    <tr>
      <td class="left"><span class={`sev sev-${loss.severity}`}>{severityWord(loss.severity)}</span></td>
      <td class="left strong">
        {loss.name}{loss.key !== undefined && loss.key !== "" && <code> {loss.key}</code>}
      </td>
      <td>{formatCount(loss.count)}</td>
      <td class="left" title={loss.file ?? ""}>
        {where(loss)}
        {loss.excerpt !== undefined && loss.excerpt !== null && loss.excerpt !== ""
          && <code class="excerpt">{loss.excerpt}</code>}
      </td>
      <td class="left wrap">{loss.advice ?? ""}</td>
    </tr>
  );
}

export function Losses() {
  const losses = trace.value?.losses ?? [];
  if (losses.length === 0) return <p class="empty">{t("pane.noLosses")}</p>;
  return (
    <div class="scroll">
      <table class="losses">
        <thead>
          <tr>
            <th class="left">{t("loss.severity")}</th><th class="left">{t("loss.name")}</th>
            <th>{t("loss.count")}</th><th class="left">{t("loss.where")}</th>
            <th class="left">{t("loss.advice")}</th>
          </tr>
        </thead>
        <tbody>{losses.map((loss, at) => <Row key={at} loss={loss} />)}</tbody>
      </table>
    </div>
  );
}

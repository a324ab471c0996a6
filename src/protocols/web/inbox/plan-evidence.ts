import { canonicalExact, readExactJson } from "../../../lib/json/exact-json.ts";
import { printableExactly, printableLines } from "../../../lib/printable.ts";
import type { ShownEvidence } from "../../../requests/model/plan.ts";
import type { Request } from "../../../requests/model/request.ts";
import { typedArgument } from "../../../requests/model/typed-argument.ts";
import { maskedArguments } from "../../../requests/model/view.ts";
import type { WireDiffLine, WirePlanEvidence } from "../../../wire/inbox.ts";

/** Returns the evidence of a plan as people are shown it, with its secrets masked. */
export function evidenceOf(request: Pick<Request, "id" | "wire">, kwargs: string): WirePlanEvidence[] {
  const { evidence = [] } = readExactJson(maskedArguments(request, kwargs)) as { evidence?: readonly ShownEvidence[] };
  return evidence.map((one, i) => ({
    ...shown(one, `/people/me/asks/${request.id}/evidence/${i + 1}`),
    title: titleOf(one),
  }));
}

const titleOf = ({ title }: ShownEvidence): string | null => (title === undefined ? null : printableExactly(title));

function shown(one: ShownEvidence, src: string): WirePlanEvidence {
  const title = null;
  switch (one.kind) {
    case "markdown":
      return { kind: one.kind, title, text: printableLines(one.text).join("\n") };
    case "diff":
      return { kind: one.kind, title, lines: diffLines(one.text) };
    case "table":
      return {
        kind: one.kind,
        title,
        columns: one.columns.map(printableExactly),
        rows: one.rows.map((row) => row.map(printableExactly)),
      };
    case "link": {
      // A secret in its host is masked there.
      if (!URL.canParse(one.url)) return { kind: "markdown", title, text: printableExactly(one.url) };
      const { href, host } = new URL(one.url);
      return { kind: one.kind, title, text: printableExactly(one.url), href, host, digest: one.digest ?? null };
    }
    case "image":
      return { kind: one.kind, title, src, media_type: one.media_type, digest: one.digest };
  }
}

/** A text that is no whole diff is shown by the sign of each line, for its agent says that it is one. */
function diffLines(text: string): WireDiffLine[] {
  const typed = typedArgument("diff", canonicalExact(text), {});
  if (typed?.kind === "diff") return typed.lines;
  return text.split("\n").map((line) => ({ sign: signOf(line), text: printableExactly(line) }));
}

function signOf(line: string): WireDiffLine["sign"] {
  const sign = line.charAt(0);
  return sign === "+" || sign === "-" || sign === "@" ? sign : " ";
}

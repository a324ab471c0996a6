/** How links and headings of the documents are read, as GitHub reads them. */

/** Code first, so that nothing in it is taken for a link; then the target of a link or picture, or of an attribute. */
const CODE_OR_LINK =
  /(?:^[ \t]*```[^]*?^[ \t]*```[ \t]*$|`[^`\n]*`)|(?<before>\]\(|(?:src|srcset|href)=")(?<link>[^)\s"]+)(?=[)"])/gm;

/** Returns the text with each link, and each address of a picture, as `change` says; code stays as it is. */
export function replaceLinks(text: string, change: (link: string) => string): string {
  return text.replaceAll(CODE_OR_LINK, (...match) => {
    const { before, link } = match.at(-1) as { before?: string; link?: string };
    return before === undefined || link === undefined ? String(match[0]) : `${before}${change(link)}`;
  });
}

/** Returns where the links and pictures of a page lead that lead to no other site. */
export function linksOf(text: string): string[] {
  return [...text.matchAll(CODE_OR_LINK)]
    .flatMap(({ groups }) => groups?.["link"] ?? [])
    .filter((link) => !isElsewhere(link));
}

/** Whether a link leads to another site. */
export function isElsewhere(link: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(link);
}

/** Returns the anchor of a heading. */
export function anchorOf(heading: string): string {
  const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
  return words.replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "").replaceAll(" ", "-");
}

/** Returns the anchors of a page's headings; one that is there already gets a number. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const withoutBlocks = text.replaceAll(/^\s*```[^]*?^\s*```$/gm, "");
  return new Set(
    [...withoutBlocks.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
      const anchor = anchorOf(heading);
      const before = seen.get(anchor) ?? 0;
      seen.set(anchor, before + 1);
      return before === 0 ? anchor : `${anchor}-${before}`;
    }),
  );
}

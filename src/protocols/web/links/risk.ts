import type { Request } from "../../../requests/model/request.ts";
import { judgedRequest, type RiskReason } from "../../../requests/model/risk.ts";
import { html, type Markup } from "../pages/html.ts";

/** Nobody reads more before deciding. */
const MOST_REASONS = 5;

/** The style sheet that the sign of risk adds to the page of a one-time link. */
export const RISK_STYLE = `
.risk { padding: 0.75rem 1rem; border-radius: 0.75rem; background: var(--sunken); overflow-wrap: anywhere; }
.risk[data-risk="high"] { background: light-dark(#f8e4df, #3a211c); color: light-dark(#7a2113, #ffc2b5); }
.risk svg { width: 1.25rem; height: 1.25rem; margin-right: 0.5rem; vertical-align: -0.25rem; fill: none;
  stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
.risk ul { margin: 0.25rem 0 0; padding-left: 1.75rem; }
`;

const SIGN = {
  high: "M12 4l9 16H3zM12 10v4M12 17v.5",
  unjudged: "M9 9a3 3 0 1 1 3 3v2M12 17v.5",
  low: "M5 12.5l4.5 4.5L19 7.5",
} as const;

/** Shows how risky an open call looks, and why: in words, with a sign, and never by colour alone. */
export function riskMarkup(request: Request): Markup | null {
  const { risk, reasons } = judgedRequest(request);
  if (risk === "normal" || request.state !== "open") return null;
  const sign = html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${SIGN[risk]}" /></svg>`;
  if (risk === "low") {
    return html`<div class="risk" data-risk="low">${sign}Low risk: it only reads.</div>`;
  }
  const shown = reasons.slice(0, MOST_REASONS).map(sentenceOfReason);
  const more = reasons.length - shown.length;
  return html`<div class="risk" data-risk="${risk}" role="note" aria-label="Risk">
    ${sign}<strong>${risk === "high" ? "High risk" : "Not judged"}</strong>
    <ul>
      ${shown.map((sentence) => html`<li>${sentence}</li>`)} ${more > 0 && html`<li>${more} more like these.</li>`}
    </ul>
  </div>`;
}

function sentenceOfReason({ kind, says }: RiskReason): string {
  return SENTENCES[kind].replace("{}", () => says);
}

const SENTENCES: Readonly<Record<RiskReason["kind"], string>> = {
  joint: "Several people must agree to it.",
  unseen: "Its name holds characters that nobody can see.",
  long: "Its arguments are too long to look through.",
  secret: "An argument holds a secret.",
  loses: "Something is lost: {}",
  forces: "Forced, or without a safeguard: {}",
  money: "Much money: {}",
  people: "To many people: {}",
  opens: "Gives rights: {}",
  place: "Where it matters: {}",
  file: "A guarded file: {}",
  data: "Personal data leaves: {}",
  unread: "Nobody can tell beforehand: {}",
};

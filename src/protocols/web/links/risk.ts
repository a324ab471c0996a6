import type { Request } from "../../../requests/model/request.ts";
import { judgedRequest } from "../../../requests/model/risk.ts";
import { RISK_WORDS, sentenceOfReason } from "../../../requests/model/risk-words.ts";
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
  normal: "M5 12h14",
  low: "M5 12.5l4.5 4.5L19 7.5",
} as const;

/** Shows how risky an open call looks, and why: in words, with a sign, and never by colour alone. */
export function riskMarkup(request: Request): Markup | null {
  const { risk, reasons } = judgedRequest(request);
  if (request.form.kind !== "approval" || request.state !== "open") return null;
  const sign = html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${SIGN[risk]}" /></svg>`;
  if (reasons.length === 0) {
    const why = risk === "low" ? ": it only reads." : "";
    return html`<div class="risk" data-risk="${risk}">${sign}${RISK_WORDS[risk]}${why}</div>`;
  }
  const shown = reasons.slice(0, MOST_REASONS).map(sentenceOfReason);
  const more = reasons.length - shown.length;
  return html`<div class="risk" data-risk="${risk}" role="note" aria-label="Risk">
    ${sign}<strong>${RISK_WORDS[risk]}</strong>
    <ul>
      ${shown.map((sentence) => html`<li>${sentence}</li>`)} ${more > 0 && html`<li>${more} more like these.</li>`}
    </ul>
  </div>`;
}

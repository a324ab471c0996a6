import type { Request } from "../../../requests/model/request.ts";
import { riskOf, riskReasonsOf, type RiskReason } from "../../../requests/model/risk.ts";
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

const SIGN = { high: "M12 4l9 16H3zM12 10v4M12 17v.5", low: "M5 12.5l4.5 4.5L19 7.5" } as const;

/** Shows how risky an open call looks, and why: in words, with a sign, and never by colour alone. */
export function riskMarkup(request: Request): Markup | null {
  const risk = riskOf(request);
  if (risk === "normal" || request.state !== "open") return null;
  const sign = html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${SIGN[risk]}" /></svg>`;
  if (risk === "low") {
    return html`<div class="risk" data-risk="low">${sign}Low risk: it looks as if it only reads.</div>`;
  }
  const reasons = riskReasonsOf(request);
  const shown = reasons.slice(0, MOST_REASONS).map(sentenceOfReason);
  const more = reasons.length - shown.length;
  return html`<div class="risk" data-risk="high" role="note" aria-label="Risk">
    ${sign}<strong>High risk</strong>
    <ul>
      ${shown.map((sentence) => html`<li>${sentence}</li>`)} ${more > 0 && html`<li>${more} more like these.</li>`}
    </ul>
  </div>`;
}

function sentenceOfReason(reason: RiskReason): string {
  switch (reason.kind) {
    case "joint":
      return "Several people must agree to it.";
    case "unseen":
      return "Its name holds characters that nobody can see.";
    case "long":
      return "Its arguments are too long to look through.";
    case "secret":
      return "An argument holds a secret.";
    case "function":
      return `Its name says “${reason.name}”, as if it took something away.`;
    case "argument":
      return `The argument “${reason.name}” looks as if it took something away or went around a safeguard.`;
  }
}

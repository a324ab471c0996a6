import { withoutForgery } from "./agent-words.ts";
import type { Request } from "./request.ts";
import { toldRisk } from "./risk-words.ts";
import { sentenceOf } from "./sentence.ts";
import { isGuarded, viewOf, type RequestView } from "./view.ts";

/** Renders a request for whatever leaves this server: the same, without arguments that hold a secret (spec/security 4). */
export function viewOutside(request: Request): RequestView {
  const { exact, ...shown } = viewOf(request);
  const wire = { ...request.wire, masked: undefined };
  const isCall = request.form.kind === "approval";
  const outside = { ...request, wire };
  const risk = toldRisk(outside);
  const view = { ...shown, ...(isCall && { sentence: sentenceOf(outside) }), ...(risk && { risk }) };
  if (!isGuarded(request)) return { ...view, ...(exact && { exact }) };
  return { ...view, argumentsText: "They hold a secret, so they are on the page alone.", argumentNames: [] };
}

/**
 * Renders a request for a message that people read: no words of the agent in it can pass for a code or an address of
 * this server. The call to approve stays as it is.
 */
export function viewInMessage(request: Request, publicUrl: string): RequestView {
  const view = viewOutside(request);
  const { sentence, risk } = view;
  const own = (text: string) => withoutForgery(text, publicUrl);
  return {
    ...view,
    agent: own(view.agent),
    run: view.run === null ? null : own(view.run),
    title: own(view.title),
    ...(sentence !== undefined && { sentence: own(sentence) }),
    ...(risk !== undefined && { risk: { ...risk, because: own(risk.because) } }),
    words: own(view.words),
    options: view.options.map((option) => ({
      ...option,
      ...(option.title !== undefined && { title: own(option.title) }),
      ...(option.description !== undefined && { description: own(option.description) }),
    })),
  };
}

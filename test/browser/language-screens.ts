import { Parley } from "@parley/sdk";
import type { Browser } from "playwright-core";
import { askPeople, toPerson } from "../support/addressed.ts";
import type { World } from "../support/world.ts";
import { callOf, nameSomebody, openInboxWorld, type Named } from "./inbox-world.ts";
import { atRest, type Look, type Visitor, visit } from "./visitor.ts";

const QUESTIONS = {
  de: {
    locale: "de-DE",
    prompt: "Welche Beschriftung sagt am klarsten, dass danach nichts mehr rückgängig zu machen ist?",
    options: ["Löschen", "Endgültig löschen", "Entfernen"],
    words: "Die Kundin hat ein Foto des zerbrochenen Kessels geschickt.",
  },
  ar: {
    locale: "ar-EG",
    prompt: "أي تسمية توضّح أكثر أن الطلب سيُرسَل فور الضغط عليها؟",
    options: ["إرسال الطلب", "ادفع الآن", "متابعة"],
    words: "أرسلت العميلة صورة للغلاية المكسورة.",
  },
} as const;
type Language = keyof typeof QUESTIONS;

/** A server on which agents have asked in other languages than English. */
export interface FilledLanguages {
  world: World;
  ana: Named;
  /** Where the question and the call of each language are. */
  paths: Record<Language, { question: string; call: string }>;
}

export async function fillLanguages(): Promise<FilledLanguages> {
  const world = await openInboxWorld();
  const ana = await nameSomebody(world, "Ana Ruiz");
  const agent = new Parley({ url: world.url });
  const ask = async (language: Language): Promise<{ question: string; call: string }> => {
    const { prompt, options, words } = QUESTIONS[language];
    const asked = await agent.ask({ prompt, options: [...options], min_responses: 9, timeout_seconds: 3000 });
    const call = await askPeople(world.server.ctx, {
      audience: toPerson(ana.id),
      asker: "agent:support",
      words,
      ...callOf("orders.refund_order", { amount: 1249.5, currency: "EUR", order: "A-1007" }),
    });
    return { question: `/q/${asked.question_id}`, call: `/inbox/${call.id}` };
  };
  return { world, ana, paths: { de: await ask("de"), ar: await ask("ar") } };
}

/** One look of the app in another language. */
export interface LanguageView {
  name: string;
  language: Language;
  place: "question" | "call";
}

export const LANGUAGE_VIEWS: readonly LanguageView[] = [
  { name: "question-de", language: "de", place: "question" },
  { name: "question-ar", language: "ar", place: "question" },
  { name: "inbox-approval-de", language: "de", place: "call" },
  { name: "inbox-approval-ar", language: "ar", place: "call" },
];

/** Shows one view to somebody with a fresh profile, who is signed in where it is in the inbox. */
export async function showLanguage(
  browser: Browser,
  { world, ana, paths }: FilledLanguages,
  { language, place }: LanguageView,
  look: Look,
): Promise<Visitor> {
  const { locale } = QUESTIONS[language];
  const path = place === "call" ? await ana.link() : paths[language].question;
  const visitor = await visit(browser, world.url, { ...look, locale, path });
  const { page } = visitor;
  try {
    if (place === "call") {
      await page.locator("[data-row]").first().waitFor();
      await page.goto(paths[language].call);
    }
    await page.locator(`html[lang=${language}]`).waitFor();
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await atRest(page);
    return visitor;
  } catch (error) {
    await visitor.context.close();
    throw error;
  }
}

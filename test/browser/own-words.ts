import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import * as answer from "../../web/src/answer/text.ts";
import * as answerAr from "../../web/src/answer/text.ar.ts";
import * as answerDe from "../../web/src/answer/text.de.ts";
import * as you from "../../web/src/answer/you/text.ts";
import * as youAr from "../../web/src/answer/you/text.ar.ts";
import * as youDe from "../../web/src/answer/you/text.de.ts";
import * as run from "../../web/src/console/text.ts";
import * as runAr from "../../web/src/console/text.ar.ts";
import * as runDe from "../../web/src/console/text.de.ts";
import * as overview from "../../web/src/console/overview/text.ts";
import * as overviewAr from "../../web/src/console/overview/text.ar.ts";
import * as overviewDe from "../../web/src/console/overview/text.de.ts";
import * as relay from "../../web/src/console/relay/text.ts";
import * as relayAr from "../../web/src/console/relay/text.ar.ts";
import * as relayDe from "../../web/src/console/relay/text.de.ts";
import * as tasks from "../../web/src/console/tasks/text.ts";
import * as tasksAr from "../../web/src/console/tasks/text.ar.ts";
import * as tasksDe from "../../web/src/console/tasks/text.de.ts";
import * as inbox from "../../web/src/inbox/text.ts";
import * as inboxAr from "../../web/src/inbox/text.ar.ts";
import * as inboxDe from "../../web/src/inbox/text.de.ts";
import * as keys from "../../web/src/keys-dialog/text.ts";
import * as keysAr from "../../web/src/keys-dialog/text.ar.ts";
import * as keysDe from "../../web/src/keys-dialog/text.de.ts";
import * as shell from "../../web/src/text.ts";
import * as shellAr from "../../web/src/text.ar.ts";
import * as shellDe from "../../web/src/text.de.ts";

const ENGLISH = [shell, answer, you, inbox, run, overview, relay, keys, tasks].map(({ text }) => text);

/** The other languages of the app, with their tables. */
export const LANGUAGES = [
  {
    language: "de",
    locale: "de-DE",
    direction: "ltr",
    shell: shellDe.text,
    answer: answerDe.text,
    you: youDe.text,
    inbox: inboxDe.text,
    run: runDe.text,
    overview: overviewDe.text,
    relay: relayDe.text,
    keys: keysDe.text,
    tasks: tasksDe.text,
  },
  {
    language: "ar",
    locale: "ar-EG",
    direction: "rtl",
    shell: shellAr.text,
    answer: answerAr.text,
    you: youAr.text,
    inbox: inboxAr.text,
    run: runAr.text,
    overview: overviewAr.text,
    relay: relayAr.text,
    keys: keysAr.text,
    tasks: tasksAr.text,
  },
] as const;
export type OwnLanguage = (typeof LANGUAGES)[number];

/** Words that a table sets apart in a sentence, such as a command. */
const ISOLATED = /\u2068[^\u2068\u2069]*\u2069/g;

/** Returns every word of three letters and more in tables of texts; what a count is put into is read with a three. */
function wordsOf(tables: readonly object[]): Set<string> {
  const said = (one: unknown): string => {
    if (typeof one === "string") return one;
    if (typeof one === "object" && one !== null) return Object.values(one).map(said).join(" ");
    try {
      return typeof one === "function" ? String((one as (...given: unknown[]) => unknown)(3, 3, 3)) : "";
    } catch {
      // It is about a thing that no number stands for.
      return "";
    }
  };
  return new Set(lettersOf(tables.map(said).join(" ")));
}

const lettersOf = (text: string): string[] =>
  text
    .replaceAll(ISOLATED, " ")
    .toLowerCase()
    .match(/\p{L}{3,}/gu) ?? [];

/** Returns what a page says itself, by text and by attribute: neither words of others nor a part in another language. */
const saidOn = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const OTHERS = "script, style, noscript, code, kbd, bdi, [dir=auto], body [dir=ltr], [lang]:not(html), svg";
    const isOwn = (element: Element | null): boolean => element !== null && element.closest(OTHERS) === null;
    const given = document.querySelector("h1[dir=auto]")?.textContent ?? "";
    const texts: string[] = [document.title.replace(given, "")];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) if (isOwn(walk.currentNode.parentElement)) texts.push(walk.currentNode.textContent ?? "");
    for (const element of document.querySelectorAll("[aria-label], [placeholder], [title]")) {
      for (const name of ["aria-label", "placeholder"]) texts.push(element.getAttribute(name) ?? "");
    }
    return texts.filter((one) => one.trim() !== "");
  });

/**
 * Returns what fails where a page has a text in English, is wider than the screen, or says it is in another language.
 * `tables` are those of the place, and `names` the words of others that the place shows within its own sentences.
 */
export function ownWords(
  { language, direction }: OwnLanguage,
  tables: readonly object[],
  names: readonly string[],
): (page: Page, where: string) => Promise<void> {
  const known = wordsOf(tables);
  const foreign = new Set([...wordsOf(ENGLISH)].filter((word) => !known.has(word)));
  for (const name of names) foreign.delete(name);
  return async (page, where) => {
    const left = (await saidOn(page)).filter((text) => lettersOf(text).some((word) => foreign.has(word)));
    assert.deepEqual(left, [], where);
    const { lang, dir, wide, has } = await page.evaluate(() => {
      const { lang, dir, scrollWidth, clientWidth } = document.documentElement;
      return { lang, dir, wide: scrollWidth, has: clientWidth };
    });
    assert.deepEqual([lang, dir], [language, direction]);
    assert.ok(wide <= has, `${where}: ${wide} pixels of content on a screen of ${has}`);
  };
}

/** The words of a sentence around the values of a call, in a language of the readers. */
export interface SentenceWords {
  run: string;
  sendMail: string;
  to: (value: string) => string;
  from: (value: string) => string;
  in: (value: string) => string;
  and: string;
  more: (count: number) => string;
  items: (count: number) => string;
  lines: (count: number) => string;
  without: (thing: string) => string;
  deletes: (thing: string) => string;
  noWhere: string;
  recipients: string;
  on: string;
  off: string;
  dryRun: string;
  inAll: (sum: string) => string;
  agentSays: (words: string) => string;
  characters: (count: number) => string;
  argumentCount: (count: number) => string;
  plan: (calls: number) => string;
}

export const LANGUAGES = ["en", "de", "ar"] as const;
export type Language = (typeof LANGUAGES)[number];

const EN: SentenceWords = {
  run: "Run",
  sendMail: "Send mail",
  to: (value) => `to ${value}`,
  from: (value) => `from ${value}`,
  in: (value) => `in ${value}`,
  and: "and",
  more: (count) => `and ${count} more`,
  items: (count) => (count === 1 ? "1 item" : `${count} items`),
  lines: (count) => (count === 1 ? "1 line" : `${count} lines`),
  without: (thing) => `no ${thing}`,
  deletes: (thing) => `deletes ${thing}`,
  noWhere: "no where",
  recipients: "recipients",
  on: "on",
  off: "off",
  dryRun: "dry run",
  inAll: (sum) => `${sum} in all`,
  agentSays: (words) => `agent: “${words}”`,
  characters: (count) => `${count} characters of arguments`,
  argumentCount: (count) => `${count} arguments`,
  plan: (calls) => (calls === 1 ? "Plan of 1 call" : `Plan of ${calls} calls`),
};

const DE: SentenceWords = {
  run: "Ausführen:",
  sendMail: "Mail senden",
  to: (value) => `an ${value}`,
  from: (value) => `von ${value}`,
  in: (value) => `in ${value}`,
  and: "und",
  more: (count) => `und ${count} weitere`,
  items: (count) => (count === 1 ? "1 Element" : `${count} Elemente`),
  lines: (count) => (count === 1 ? "1 Zeile" : `${count} Zeilen`),
  without: (thing) => `ohne ${thing}`,
  deletes: (thing) => `löscht ${thing}`,
  noWhere: "ohne WHERE",
  recipients: "Empfänger",
  on: "an",
  off: "aus",
  dryRun: "Probelauf",
  inAll: (sum) => `zusammen ${sum}`,
  agentSays: (words) => `Agent: „${words}“`,
  characters: (count) => `${count} Zeichen Argumente`,
  argumentCount: (count) => `${count} Argumente`,
  plan: (calls) => (calls === 1 ? "Plan mit 1 Aufruf" : `Plan mit ${calls} Aufrufen`),
};

const AR: SentenceWords = {
  run: "تشغيل",
  sendMail: "إرسال بريد",
  to: (value) => `إلى ${value}`,
  from: (value) => `من ${value}`,
  in: (value) => `في ${value}`,
  and: "و",
  more: (count) => `و${count} غيره`,
  items: (count) => `عناصر: ${count}`,
  lines: (count) => `أسطر: ${count}`,
  without: (thing) => `بدون ${thing}`,
  deletes: (thing) => `يحذف ${thing}`,
  noWhere: "بدون WHERE",
  recipients: "مستلمين",
  on: "تشغيل",
  off: "إيقاف",
  dryRun: "تجربة بلا تنفيذ",
  inAll: (sum) => `المجموع ${sum}`,
  agentSays: (words) => `الوكيل: «${words}»`,
  characters: (count) => `الوسائط: ${count} حرفًا`,
  argumentCount: (count) => `الوسائط: ${count}`,
  plan: (calls) => `خطة (الاستدعاءات: ${calls})`,
};

const ALL: Readonly<Record<Language, SentenceWords>> = { en: EN, de: DE, ar: AR };

/** Returns the words of a language. */
export function wordsFor(language: Language): SentenceWords {
  return ALL[language];
}

/** Returns the first language of an `Accept-Language` header that sentences are in, else English. */
export function languageOf(header: string | undefined): Language {
  const tags = (header ?? "").slice(0, 200).toLowerCase().split(",");
  const known = tags.map((tag) => LANGUAGES.find((language) => tag.trim().split(/[-;]/)[0] === language));
  return known.find((language) => language !== undefined) ?? "en";
}

import { APPLE, GMAIL, OUTLOOK, THUNDERBIRD, YAHOO } from "./attributions.ts";

/** A reply as a mail program writes it. */
export interface ReplyForm {
  name: string;
  /** The person's own words. */
  words: string;
  text: string;
}

/** The mail that is answered, and the addresses in it. */
export interface AnsweredMail {
  text: string;
  html: string;
  agent: string;
  replyTo: string;
  person: string;
}

export const WORDS = [
  "Tuesday",
  "Tuesday, at 10:00.\n\nNot before 24.11.2026, please.",
  "No: too late",
  "Ja, bitte:\n\n1. Hamburg\n2. Köln",
  "火曜日でお願いします。",
  "Нет, это опасно.",
] as const;

export const marked = (text: string): string => text.trimEnd().replace(/^/gm, "> ").replace(/ +$/gm, "");

/** Returns the line above a quote, with the sender in it. */
const introOf = (line: string, address: string): string =>
  line.replace("{who}", `Parley <${address}>`).replace("{name}", "Parley");

export function headersOf(labels: readonly string[], { agent, person }: AnsweredMail, bold = ""): string[] {
  const values = [`Parley <${agent}>`, "24. 11. 2026 10:00", `Ana Ruiz <${person}>`, "May deploy run?"];
  return labels.map((label, i) => `${bold}${label}${bold} ${values[i] ?? ""}`);
}

/** Returns every reply that the tables of mail programs describe, to one mail. */
export function replyForms(mail: AnsweredMail): ReplyForm[] {
  const forms: ReplyForm[] = [];
  const add = (program: string, language: string, form: (words: string) => string) => {
    const words = WORDS[forms.length % WORDS.length] ?? "";
    forms.push({ name: `${program}, ${language}`, words, text: form(words) });
  };
  const quote = marked(mail.text);
  const half = Math.floor(quote.split("\n").length / 2);
  const [front, back] = [quote.split("\n").slice(0, half).join("\n"), quote.split("\n").slice(half).join("\n")];

  for (const [language, line] of Object.entries(GMAIL)) {
    const intro = introOf(line, mail.agent);
    add("Gmail, above", language, (words) => `${words}\n\n${intro}\n\n${quote}\n`);
    add("Gmail, above, without marks", language, (words) => `${words}\n\n${intro}\n\n${mail.text}`);
    add("Gmail, below", language, (words) => `${intro}\n\n${quote}\n\n${words}\n`);
    add("Gmail, between", language, (words) => `${intro}\n\n${front}\n\n${words}\n\n${back}\n`);
    add("Gmail, answered by its reply address", language, (words) => {
      return `${words}\n\n${introOf(line, mail.replyTo)}\n\n${quote}\n`;
    });
  }
  for (const [language, line] of Object.entries(APPLE)) {
    const intro = introOf(line, mail.agent);
    add("Apple Mail, above", language, (words) => `${words}\n\n> ${intro}\n> \n${quote}\n`);
    add("Apple Mail, below", language, (words) => `> ${intro}\n> \n${quote}\n\n${words}\n`);
    add("Apple Mail, wrapped", language, (words) => {
      return `${words}\n\n${intro.replace(/ (?=Parley)/, "\n")}\n\n${quote}\n`;
    });
  }
  for (const [language, line] of Object.entries(THUNDERBIRD)) {
    const intro = introOf(line, mail.agent);
    add("Thunderbird, below", language, (words) => `${intro}\n${quote}\n\n${words}\n`);
    add("Thunderbird, above", language, (words) => `${words}\n\n${intro}\n${quote}\n`);
  }
  for (const [language, line] of Object.entries(YAHOO)) {
    const intro = introOf(line, mail.agent);
    add("Yahoo", language, (words) => `${words}\n\n    ${intro}  \n\n${mail.text.replace(/^/gm, "   ")}`);
  }
  for (const [language, labels] of Object.entries(OUTLOOK)) {
    const headers = headersOf(labels, mail).join("\n");
    const bold = headersOf(labels, mail, "*").join("\n");
    add("Outlook", language, (words) => `${words}\n\n${headers}\n\n${mail.text}`);
    add("Outlook on a phone", language, (words) => `${words}\n\n${"_".repeat(32)}\n${headers}\n\n${mail.text}`);
    add("Outlook, bold", language, (words) => `${words}\n\n${bold}\n\n${mail.text}`);
    add("K-9", language, (words) => `${words}\n\n-------- ${labels[3]} --------\n${headers}\n\n${mail.text}`);
    add("GMX", language, (words) => {
      const [from, date, to, subject] = headers.split("\n");
      return `${words}\n \n\n${date}\n${from}\n${to}\n${subject}\n${mail.text}`;
    });
    add("nothing but headers", language, (words) => `${words}\n\n${headers}\n`);
  }
  add("Notes", "de", (words) => {
    return `${words}\n\n-----Parley <${mail.agent}> schrieb: -----\nAn: ${mail.person}\nVon: Parley <${mail.agent}>\nDatum: 24.11.2026 10:00\nBetreff: May deploy run?\n\n${mail.text}`;
  });
  add("no attribution, marks", "none", (words) => `${words}\n\n${quote}\n`);
  add("no attribution, no marks", "none", (words) => `${words}\n\n${mail.text}`);
  add("no attribution, below", "none", (words) => `${quote}\n\n${words}\n`);
  add("no attribution, no marks, below", "none", (words) => `${mail.text}\n${words}\n`);
  add("nothing quoted", "none", (words) => `${words}\n`);
  return forms;
}

/** Returns replies that are HTML alone, as mail programs write them. */
export function htmlForms(mail: AnsweredMail): (Omit<ReplyForm, "text"> & { html: string })[] {
  const who = `Parley &lt;${mail.agent}&gt;`;
  const wrote = `On Tue, Nov 24, 2026 at 10:00 AM ${who} wrote:`;
  const outlook = ["From", "Sent", "To", "Subject"];
  const head = (labels: readonly string[], to = mail.person) =>
    `<b>${labels[0]}:</b> ${who}<br><b>${labels[1]}:</b> Tuesday, November 24, 2026 10:00 AM<br><b>${labels[2]}:</b> Ana &lt;${to}&gt;<br><b>${labels[3]}:</b> Which day?`;
  const border = "border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0in 0in 0in";
  const mso = (words: string, labels: readonly string[]) =>
    `<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><style><!-- p.MsoNormal {margin:0in} --></style></head><body lang="EN-US"><div class="WordSection1"><p class="MsoNormal">${words}<o:p></o:p></p><p class="MsoNormal"><o:p>&nbsp;</o:p></p><div><div style="${border}"><p class="MsoNormal">${head(labels)}<o:p></o:p></p></div></div><p class="MsoNormal"><o:p>&nbsp;</o:p></p>${mail.html}</div></body></html>`;
  const forms: Readonly<Record<string, (words: string) => string>> = {
    "Outlook for the desktop": (words) => mso(words, outlook),
    "Outlook for the desktop, da": (words) => mso(words, ["Fra", "Sendt", "Til", "Emne"]),
    "Outlook for the desktop, ja": (words) => mso(words, ["差出人", "送信日時", "宛先", "件名"]),
    "Outlook on the web": (words) =>
      `<html><body dir="ltr"><div class="elementToProof">${words}</div><div id="appendonsend"></div><hr style="display:inline-block;width:98%" tabindex="-1"><div id="divRplyFwdMsg" dir="ltr"><font face="Calibri">${head(outlook)}</font><div>&nbsp;</div></div>${mail.html}</body></html>`,
    "Outlook on a phone": (words) =>
      `<html><body><div dir="ltr">${words}</div><div id="ms-outlook-mobile-signature">Get <a href="https://aka.ms/o0ukef">Outlook for iOS</a></div><hr><div id="divRplyFwdMsg">${head(outlook)}</div>${mail.html}</body></html>`,
    Zimbra: (words) =>
      `<html><body><div style="font-family: arial"><div>${words}</div><div><br></div><hr id="zwchr" data-marker="__DIVIDER__"><div data-marker="__HEADERS__">${head(["From", "Sent", "To", "Subject"])}<br></div><div><br></div><div data-marker="__QUOTED_TEXT__">${mail.html}</div></div></body></html>`,
    Roundcube: (words) =>
      `<html><body><p>${words}</p><p id="reply-intro">On 2026-11-24 10:00, Parley wrote:</p><blockquote type="cite">${mail.html}</blockquote></body></html>`,
    Gmail: (words) =>
      `<div dir="ltr">${words}</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">${wrote}<br></div><blockquote class="gmail_quote">${mail.html}</blockquote></div>`,
    "Gmail, below": (words) =>
      `<div dir="ltr"><div class="gmail_quote"><div class="gmail_attr">${wrote}<br></div><blockquote class="gmail_quote">${mail.html}</blockquote></div><div>${words}</div></div>`,
    "Gmail, with a signature": (words) =>
      `<div dir="ltr">${words}<br clear="all"><div><br></div><span class="gmail_signature_prefix">-- </span><br><div dir="ltr" class="gmail_signature"><div>Ana Ruiz, CFO</div></div></div><div class="gmail_quote"><div class="gmail_attr">${wrote}<br></div><blockquote>${mail.html}</blockquote></div>`,
    "Apple Mail": (words) =>
      `<html><body style="overflow-wrap: break-word;">${words}<br id="lineBreakAtBeginningOfMessage"><div><br><blockquote type="cite"><div>On 24 Nov 2026, at 10:00, ${who} wrote:</div><br class="Apple-interchange-newline"><div>${mail.html}</div></blockquote></div><br></body></html>`,
    Thunderbird: (words) =>
      `<html><body><div class="moz-cite-prefix">On 11/24/26 10:00, Parley wrote:<br></div><blockquote type="cite" cite="mid:x@y">${mail.html}</blockquote><p>${words}</p></body></html>`,
    Yahoo: (words) =>
      `<html><body><div class="ydp1yahoo-style-wrap"><div>${words}</div><div><br></div></div><div id="yahoo_quoted_1" class="yahoo_quoted"><div>${wrote}</div><div><br></div><div>${mail.html}</div></div></body></html>`,
    Proton: (words) =>
      `<div>${words}</div><div class="protonmail_signature_block protonmail_signature_block-empty"></div><div class="protonmail_quote">${wrote}<br><blockquote class="protonmail_quote" type="cite">${mail.html}</blockquote><br></div>`,
    GMX: (words) =>
      `<html><body><div><div>${words}</div><div>&nbsp;</div><div style="margin: 10px 5px"><div style="margin:0 0 10px 0;"><b>Gesendet:</b>&nbsp;Dienstag, 24. November 2026 um 10:00 Uhr<br/><b>Von:</b>&nbsp;Parley &lt;${mail.agent}&gt;<br/><b>An:</b>&nbsp;${mail.person}<br/><b>Betreff:</b>&nbsp;Which day?</div><div name="quoted-content">${mail.html}</div></div></div></body></html>`,
  };
  return Object.entries(forms).map(([name, form], i) => {
    const words = WORDS[i % WORDS.length] ?? "";
    return { name, words, html: form(words.replaceAll("\n", "<br>")) };
  });
}

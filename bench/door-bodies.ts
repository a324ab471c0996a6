/** The bodies that are costly to read, each in a way of its own. */
import { MOST_VALUES } from "../src/lib/json/json-body.ts";

type Fill<Body> = (bytes: number) => Body;

/** Each fills about so many bytes with one JSON value. */
export const JSON_SHAPES: Readonly<Record<string, Fill<unknown>>> = {
  "one text": (bytes) => "a few plain words. ".repeat(bytes / 19),
  "one text of pairs and secrets": (bytes) => "\u{1f600} password=hK3x9Qz2Lm7Wv4Tn ".repeat(bytes / 31),
  "one text of escapes": (bytes) => '"\\\n'.repeat(bytes / 6),
  "many values": (bytes) => {
    const each = Math.max(7, Math.floor(bytes / (MOST_VALUES - 50)) - 6) >> 1;
    return members(bytes / 14, (i) => [`n${i}`.padEnd(each, "x"), "v".repeat(each)]);
  },
  "many long integers": (bytes) => members(bytes / 30, (i) => [`n${i}`, JSON_NUMBER]),
};

/** Stands for an integer of twenty digits, which no number of this language holds. */
const JSON_NUMBER = "12345678901234567890 as it stands";

/** Returns JSON in which those integers stand as such. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(`"${JSON_NUMBER}"`, JSON_NUMBER.slice(0, 20));
}

function members(most: number, member: (i: number) => [string, string]): object {
  return Object.fromEntries(Array.from({ length: Math.min(MOST_VALUES - 50, most) }, (_, i) => member(i)));
}

/** Each fills about so many bytes with fields of a form, to stand behind others. */
export const FORM_SHAPES: Readonly<Record<string, Fill<string>>> = {
  "one field": (bytes) => `&comment=${"a few plain words. ".repeat(bytes / 19)}`,
  "one field of escapes": (bytes) => `&comment=${"%F0%9F%98%80".repeat(bytes / 12)}`,
  "many fields": (bytes) => Array.from({ length: bytes / 6 }, (_, i) => `&${i.toString(36)}=`).join(""),
};

/** Each fills about so many bytes with what follows the first headers of a mail. */
export const MAIL_SHAPES: Readonly<Record<string, Fill<string>>> = {
  "plain words": (bytes) => `\r\n\r\n${"A few plain words.\r\n".repeat(bytes / 20)}`,
  "one line": (bytes) => `\r\n\r\n${"a few plain words. ".repeat(bytes / 19)}`,
  HTML: (bytes) => `\r\nContent-Type: text/html\r\n\r\n${"<div><b>A few</b> words<br></div>\r\n".repeat(bytes / 35)}`,
  "an attachment": (bytes) =>
    ["", MULTIPART, "", "--b", "", "yes", "--b", "Content-Type: application/pdf", BASE64, ""]
      .concat(
        "QUJD"
          .repeat(19)
          .concat("\r\n")
          .repeat(bytes / 78),
        "--b--",
        "",
      )
      .join("\r\n"),
  "many parts": (bytes) => `\r\n${MULTIPART}\r\n\r\n${"--b\r\n\r\nyes\r\n".repeat(bytes / 12)}--b--\r\n`,
  "many headers": (bytes) => `\r\n${"X-A: b\r\n".repeat(bytes / 8)}\r\nyes\r\n`,
};
const MULTIPART = "Content-Type: multipart/mixed; boundary=b";
const BASE64 = "Content-Transfer-Encoding: base64";

const ESCAPE = 0x1b;
/** A browser looks at this part of a page to find its charset. */
const META_BYTES = 2048;
const META = /<meta[^>]{1,200}?charset\s*=\s*["']?([\w:.-]{1,40})/i;
/** Labels that say nothing: programs write them where they do not know better. */
const SAYS_NOTHING = /^(?:us-ascii|ascii|ansi_x3\.4-1968)?$/;
const DOS_850 = /^(?:x-)?(?:cs|cp|ibm|dos|pc)?[-_]?(?:pc)?850(?:multilingual)?$/;
/** The upper half of code page 850, which no `TextDecoder` knows. */
const UPPER_850 =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0";

/**
 * Returns the text of a part as its author saw it: in the charset that is declared where that can be, and else in the
 * one that the bytes show. ISO-2022-JP names itself by its escapes, 8-bit text is UTF-8 where it is valid, and
 * windows-1252 where nothing else is known. Nothing is returned where the declared charset is to be believed.
 */
export function undeclaredText(bytes: Uint8Array, declared: string, isHtml: boolean): string | undefined {
  const label = declared.trim().toLowerCase();
  const isEightBit = bytes.some((byte) => byte > 0x7f);
  if (!isEightBit) return hasJisEscapes(bytes) && !/2022/.test(label) ? decoded("iso-2022-jp", bytes) : undefined;
  if (DOS_850.test(label)) return fromCodePage(bytes, UPPER_850);
  if (/^(?:x-)?gb[-_]?(?:2312|k)/.test(label)) return decoded("gb18030", bytes);
  const utf8 = decoded("utf-8", bytes) ?? "";
  if (/^utf-?8$/.test(label)) return isBroken(utf8) ? decoded("windows-1252", bytes) : undefined;
  if (!SAYS_NOTHING.test(label) && isKnown(label)) return undefined;
  if (!utf8.includes("\ufffd")) return utf8;
  // The parser knows some labels, which no decoder takes, by another name.
  if (!SAYS_NOTHING.test(label)) return undefined;
  const page = isHtml ? META.exec(Buffer.from(bytes.subarray(0, META_BYTES)).toString("latin1"))?.[1] : undefined;
  const pageCharset = page?.toLowerCase() ?? "";
  return (/^utf/.test(pageCharset) ? undefined : decoded(pageCharset, bytes)) ?? decoded("windows-1252", bytes);
}

/** Returns a mail whose header is UTF-8, as its reader expects; bytes of another charset stand there undeclared. */
export function withReadableHeader(raw: Uint8Array): Uint8Array {
  const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const ends = ["\r\n\r\n", "\n\n"].map((blank) => mail.indexOf(blank)).filter((at) => at >= 0);
  const end = Math.min(mail.length, ...ends);
  const text = undeclaredText(mail.subarray(0, end), "", false);
  return text === undefined ? raw : Buffer.concat([Buffer.from(text), mail.subarray(end)]);
}

/** True where UTF-8 was declared of a text none of whose letters are. */
function isBroken(utf8: string): boolean {
  return utf8.includes("\ufffd") && !/[^\0-\x7f\ufffd]/.test(utf8);
}

function hasJisEscapes(bytes: Uint8Array): boolean {
  if (!bytes.includes(ESCAPE)) return false;
  return /\x1b(?:\$[@B]|\([IJ])/.test(Buffer.from(bytes).toString("latin1"));
}

function isKnown(label: string): boolean {
  return decoded(label, new Uint8Array()) !== undefined;
}

function decoded(label: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return undefined;
  }
}

function fromCodePage(bytes: Uint8Array, upper: string): string {
  return Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : (upper[byte - 0x80] ?? ""))).join("");
}

import { SCOPES } from "./key-text.ts";

/** Where in a text something stands, in UTF-16 units, and the rule that found it. */
export interface SecretMatch {
  rule: string;
  from: number;
  to: number;
}

/** Marks that secrets contain. Every secret that the scanner knows contains one, or stands in an assignment. */
const SIGNS = new RegExp(
  [
    "A3T[A-Z0-9]|A(?:KI|GP|ID|RO|IP|NP|NV|SI)A[A-Z0-9]",
    "gh[pousr]_|github_pat_|glpat-|npm_|dckr_pat_|pypi-",
    "xox|xapp-|hooks\\.slack\\.com",
    "[sr]k_(?:live|test)_|sk-[\\w-]{16}|gsk_|hf_|lin_api_|ntn_|SG\\.|shp(?:pa|ca|at|ss)_|gl(?:c|sa)_|ops_ey|hv[sbr]\\.",
    "vc[piark]_|dapi|figd_|cf(?:k|ut|at)_|tskey-|do[opr]_v1_|whsec_|parley_|AGE-SECRET",
    "PRIVATE KEY|AIza|GOCSPX-|eyJ|:AA|SK[0-9a-f]{8}|://[^\\s/]{0,400}@|[Bb]earer|BEARER",
  ].join("|"),
);

/** Formats that the preset of secretlint does not know. */
const TOKENS: readonly (readonly [rule: string, pattern: RegExp])[] = [
  ["parley-key", new RegExp(`parley_(?:${SCOPES.join("|")})_[0-9A-Za-z]{32,64}`, "g")],
  ["webhook-secret", /whsec_[A-Za-z0-9+/]{24,128}={0,2}/g],
  ["google-api-key", /AIza[\w-]{35}/g],
  ["google-oauth-secret", /GOCSPX-[\w-]{28}/g],
  ["pypi-token", /pypi-[\w-]{50,512}/g],
  ["digitalocean-token", /do[opr]_v1_[0-9a-f]{64}/g],
  ["telegram-bot-token", /(?<!\d)\d{8,10}:AA[\w-]{33}/g],
  ["twilio-api-key", /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g],
  ["age-secret-key", /AGE-SECRET-KEY-1[0-9A-Z]{58}/g],
  ["json-web-token", /(?<![\w-])eyJ[\w-]{8,4096}\.eyJ[\w-]{8,8192}\.[\w-]{20,2048}/g],
  ["anthropic-api-key", /sk-ant-[a-z]{3,6}\d\d-[\w-]{60,160}/g],
  ["api-key", /(?<![\w-])sk-(?:[a-z]{2,8}-)?(?:v\d-)?[A-Za-z0-9_-]{20,200}/g],
];

/** Begins a private key, which ends with its last line or, where that was cut off, with whatever could be part of it. */
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----((?:(?!-----)[\s\S]){0,16384})(?:-----END [A-Z0-9 ]{0,40}-----)?/g;
const URL_PASSWORD = /[a-z][a-z0-9+.-]{0,30}:\/\/([^\s/:@"'<>]{0,128}):([^\s@/"'<>]{4,256})@[^\s/@:,"'<>]/gi;

const WORD = [
  "passw(?:or)?d|passwort|passphrase|kennwort|\\bpass\\b|pwd|secret|token|credentials?|authorization|auth",
  "[?&](?:sig|key)|x-amz-signature",
  "api[ _.-]?(?:key|schl(?:ü|ue)ssel)",
  "(?:access|auth|secret|private|signing|encryption|master|client|account|storage|license|deploy|shared)[ _.-]?(?:access[ _.-]?)?key",
].join("|");
/** Says more of where it is used than what it is. */
const TAIL = "(?:[ _.-]?(?:prod(?:uction)?|staging|stage|dev|test|live|value|base64|\\d{1,2})){0,2}";
const JOINED =
  "\\\\?[\"'`]?\\]?\\s{0,8}(?::=|=>|={1,2}|:|>|\\b(?:is|ist|lautet)\\b:?|\\(\\s{0,4}(?=\\\\?[\"'`])|(?<=\\s)(?=[\"'`]))\\s{0,8}";
const TYPED = "(?:(?:str|string)\\s{0,4}=\\s{0,4})?";
const SCHEME = "(?:(?:Bearer|Basic|Token|ApiKey)\\s{1,4})?";
const quoted = (quote: string): string => `\\\\?${quote}((?:[^${quote}\\\\\\n]|\\\\(?!${quote})){8,512})`;
const VALUE = `(?:${['"', "'", "`"].map(quoted).join("|")}|([^\\s"'\`\\\\,;<>]{8,512}))`;

const NAMED = new RegExp(`(?:${WORD})${TAIL}(?:${JOINED}|(?<=--[\\w-]{1,40})[= ])`, "i");
const ASSIGNED = new RegExp(`(${WORD})${TAIL}${JOINED}${TYPED}${SCHEME}${VALUE}`, "dgi");
const FLAGGED = new RegExp(`--[\\w-]{0,30}?(${WORD})${TAIL}[= ]\\s{0,4}${VALUE}`, "dgi");
const BORNE = new RegExp(`(bearer)\\s{1,4}${VALUE}`, "dgi");
const SECRET_NAME = new RegExp(`(${WORD})${TAIL}$`, "i");
/** Tokens that open nothing. */
const HARMLESS = /(?:page|next|continuation|sync|csrf|xsrf|cancellation|cancel)[ _-]?$/i;

/** Points to a secret, or stands in its place. */
const REFERENCE = /^(?:<|\$[{(]|\{\{|%\w+%$|secret:\/\/)|\$\{|\{\{/;
const PLACEHOLDER =
  /your[_-]|example|changeme|change-me|placeholder|redacted|insert-|replace|dummy|x{5}|\*{3}|\.{3}|…/i;
const USUAL_PASSWORDS =
  /^(?:some|my|the|db|app)?[_-]?(?:pass(?:word|wd|wort)?|pw|pwd|secret|postgres|root|admin|user|guest|test|token|[x*]+)\d{0,3}$/i;
const SECRET_REFERENCE = /secret:\/\/[\w./-]+/g;

/**
 * Returns whether a text may hold a secret, for little: whatever any rule finds is in a text of which this is true.
 * `name` is that of the member whose value it is.
 */
export function mayHold(text: string, name?: string): boolean {
  return SIGNS.test(text) || NAMED.test(text) || (name !== undefined && isSecretName(name) && text.length >= 8);
}

/** Returns what the rules of our own find; finds may overlap. */
export function findByOwnRules(text: string, name?: string): SecretMatch[] {
  const finds = TOKENS.flatMap(([rule, pattern]) =>
    [...text.matchAll(pattern)]
      .filter(([token]) => rule !== "api-key" || looksRandom(token.slice(3)))
      .map(({ 0: token, index }): SecretMatch => ({ rule, from: index, to: index + token.length })),
  );
  for (const { 0: whole, 1: body = "", index } of text.matchAll(PRIVATE_KEY)) {
    if (isKeyBody(body)) finds.push({ rule: "private-key", from: index, to: index + whole.trimEnd().length });
  }
  for (const { 0: whole, 1: user = "", 2: password = "", index } of text.matchAll(URL_PASSWORD)) {
    // GitHub takes the token as the user's name, beside a password that says so.
    const isUser = password === "x-oauth-basic";
    const from = index + whole.indexOf("://") + "://".length + (isUser ? 0 : user.length + 1);
    const secret = isUser ? user : password;
    const isKnown = password === user || USUAL_PASSWORDS.test(secret) || REFERENCE.test(secret);
    if (!isKnown) finds.push({ rule: "url-password", from, to: from + secret.length });
  }
  finds.push(...findAssigned(text, ASSIGNED), ...findAssigned(text, FLAGGED), ...findAssigned(text, BORNE));
  if (name !== undefined && isSecretName(name) && isSecretValue(name, text)) {
    finds.push({ rule: "assigned-secret", from: 0, to: text.length });
  }
  return finds;
}

/** Returns the finds that are worth telling: none that only stands in a secret's place, and one for each place. */
export function settleFinds(text: string, finds: readonly SecretMatch[]): SecretMatch[] {
  const references = [...text.matchAll(SECRET_REFERENCE)];
  const isReference = ({ from, to }: SecretMatch) =>
    references.some(({ 0: { length }, index }) => index <= from && to <= index + length);
  const isPlaceholder = ({ rule, from, to }: SecretMatch) =>
    rule !== "private-key" && PLACEHOLDER.test(text.slice(from, to));
  return mergeSpans(finds.filter((find) => !isReference(find) && !isPlaceholder(find)));
}

/** The names that say most, last. */
const TELLING = ["assigned-secret", "", "canary"];

/** Returns spans of which no two have a character in common, from first to last. */
export function mergeSpans(spans: readonly SecretMatch[]): SecretMatch[] {
  const merged: SecretMatch[] = [];
  for (const span of spans.toSorted((one, other) => one.from - other.from || other.to - one.to)) {
    const before = merged.at(-1);
    if (before && span.from < before.to) {
      if (weightOf(span) > weightOf(before)) before.rule = span.rule;
      before.to = Math.max(before.to, span.to);
    } else {
      merged.push({ ...span });
    }
  }
  return merged;
}

function weightOf({ rule }: SecretMatch): number {
  return TELLING.includes(rule) ? TELLING.indexOf(rule) : 1;
}

function findAssigned(text: string, pattern: RegExp): SecretMatch[] {
  const finds: SecretMatch[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const word = match[1] ?? "";
    const [from, end] = (match.indices?.slice(2) ?? []).find((place) => place !== undefined) ?? [0, 0];
    const isBare = match[5] !== undefined;
    const value = isBare ? text.slice(from, end).replace(/(?<![.,:)])[.,:)]+$/, "") : text.slice(from, end);
    const isHarmless = HARMLESS.test(text.slice(Math.max(0, match.index - 16), match.index));
    const isCode = isBare && /[()[\]{}]/.test(value);
    if (!isHarmless && !isCode && isSecretValue(word, value)) {
      finds.push({ rule: "assigned-secret", from, to: from + value.length });
      pattern.lastIndex = end;
    } else {
      // The text taken for a value may be the name of the next assignment.
      pattern.lastIndex = match.index + word.length;
    }
  }
  return finds;
}

function isSecretName(name: string): boolean {
  const found = SECRET_NAME.exec(name);
  return found !== null && !HARMLESS.test(name.slice(0, found.index));
}

function isSecretValue(word: string, value: string): boolean {
  if (REFERENCE.test(value)) return false;
  return looksRandom(value) || (/pass|pwd|kennwort|secret/i.test(word) && looksLikePassword(value));
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HEX = /^(?:[0-9a-f]{16,}|[0-9A-F]{16,})$/;
const GROUPS = /^[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){3,}$/;

/** Two letters that hardly follow one another in a word, in English or in German. */
const RARE_PAIR =
  /a[aejoq]|b[dfghkmnpqvwxz]|c[bdfgjmnpqvwxz]|d[fhjknpqtvwxz]|ez|f[bcdghjkmnpqvwxz]|g[bdfjkpqvwxyz]|h[bcdfghjkpqvwxyz]|i[hijquwy]|j[bcdfghijklmnpqrtvwxyz]|k[bcdfghjkmpqrvwxyz]|l[hjmnqrwxz]|m[cdfghjknqrtvwxyz]|n[hjqx]|o[hqz]|p[bcgjknqvwxz]|q[^u]|r[hjqxz]|s[bjrvxz]|t[bjknqvx]|u[hjquvwxyz]|v[bcdfghjklmnpqrstuvwxyz]|w[bcdfgjkmpqtuvwxyz]|x[bdfghjklmnoqrsuvwxyz]|y[bcdfghjkqruvwxyz]|z[bcdfghjklmnpqrstvwxyz]/;
const SWITCH = /[A-Za-z]\d|\d[A-Za-z]|[a-z][A-Z]/;
/** Of random characters two pairs in three are odd; of what people write, one in ten. */
const ODD_SHARE = 0.3;

/**
 * Returns whether nobody would make up or remember such a text: every other pair of its characters is of letters that
 * no word has side by side, or changes between capitals, small letters and digits.
 */
function looksRandom(text: string): boolean {
  if (UUID.test(text)) return true;
  if (GROUPS.test(text)) return /\d/.test(text) && /[A-Z]/.test(text);
  const parts = text.match(/[A-Za-z0-9]+/g) ?? [];
  const joined = parts.join("");
  if (joined.length < 12 || joined.length / parts.length <= 4 || !/[A-Za-z]/.test(joined)) return false;
  if (parts.some((part) => HEX.test(part) && /\d/.test(part) && /[A-Fa-f]/.test(part))) return true;
  let pairs = 0;
  let odd = 0;
  for (const part of parts) {
    for (let i = 1; i < part.length; i += 1) {
      const pair = part.slice(i - 1, i + 1);
      pairs += 1;
      if (SWITCH.test(pair) || RARE_PAIR.test(pair.toLowerCase())) odd += 1;
    }
  }
  return odd / pairs >= ODD_SHARE;
}

/** Returns whether a text is of so many kinds of characters as passwords have to be. */
function looksLikePassword(text: string): boolean {
  if (text.length < 8 || text.length > 64 || /[\s()[\]{}<>/\\]/.test(text)) return false;
  return /\d/.test(text) && /[A-Za-z]/.test(text) && /[!@#$%^&*?+~=|]/.test(text);
}

/** Returns whether a text is that of a key, and no words in its place. */
function isKeyBody(body: string): boolean {
  const run = /[A-Za-z0-9+/=]{40,}/.exec(body.replace(/\s|\\[nr]/g, ""))?.[0] ?? "";
  return /\d/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run);
}

import { generateKeyPairSync } from "node:crypto";
import { makeKeyText, SCOPES } from "../../src/lib/secrets/key-text.ts";

/** Draws from a seed: the same secrets and prompts in every run, and none of them written down anywhere. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A whole number from 0 to below `most`. */
  below(most: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T;
  }

  text(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[this.below(alphabet.length)]).join("");
  }
}

const DIGITS = "0123456789";
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const B62 = DIGITS + UPPER + LOWER;
const HEX = DIGITS + "abcdef";
const URL64 = `${B62}-_`;

export interface Planted {
  rule: string;
  secret: string;
  /** The name it is assigned to, if it is recognized by that alone; for a password in an address, the scheme. */
  name?: string;
}

const token =
  (rule: string, prefix: string, alphabet: string, length: number) =>
  (dice: Dice): Planted => ({ rule, secret: prefix + dice.text(alphabet, length) });

const ending =
  (planted: (dice: Dice) => Planted, suffix: string) =>
  (dice: Dice): Planted => {
    const { secret, ...rest } = planted(dice);
    return { ...rest, secret: secret + suffix };
  };

const NAMES = [
  "password",
  "DB_PASSWORD",
  "passwd",
  "Passwort",
  "client_secret",
  "clientSecret",
  "api_key",
  "API-Key",
  "apiKey",
  "access_token",
  "authToken",
  "X-Api-Key",
  "SECRET_KEY",
  "SIGNING_KEY",
  "AccountKey",
  "refresh_token",
  "PASSWORD_PROD",
];

const assigned =
  (draw: (dice: Dice) => string, names: readonly string[] = NAMES) =>
  (dice: Dice): Planted => ({ rule: "assigned-secret", name: dice.one(names), secret: draw(dice) });

/** A password as a program makes it: small letters, capitals, digits and signs, in any order. */
function password(dice: Dice): string {
  const kinds = [LOWER, UPPER, DIGITS, "!@#$%^*+?"].map((kind) => dice.text(kind, 3)).join("");
  return [...kinds].toSorted(() => dice.below(2) - 1).join("");
}

function uuid(dice: Dice): string {
  return [8, 4, 4, 4, 12].map((length) => dice.text(HEX, length)).join("-");
}

function privateKey(dice: Dice): Planted {
  const { privateKey: key } = dice.one([
    () => generateKeyPairSync("ed25519"),
    () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ])();
  const pem = (key.export({ type: "pkcs8", format: "pem" }) as string).trim();
  const sealed = key.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }) as string;
  const lines = Array.from({ length: 5 }, () => dice.text(B62, 70)).join("\n");
  const openssh = [
    "-----BEGIN OPENSSH",
    "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA" + lines + "\n-----END OPENSSH PRIVATE KEY-----",
  ];
  const secret = dice.one([
    pem,
    sealed,
    openssh.join(" "),
    pem.replaceAll("\n", "\\n"),
    pem.split("\n-----END")[0] ?? "",
  ]);
  return { rule: "private-key", secret: secret.trim() };
}

/** Every format that the scanner promises to find. */
export const FORMATS: readonly ((dice: Dice) => Planted)[] = [
  token("aws-access-key", "AK" + "IA", UPPER + "234567", 16),
  token("aws-access-key", "AS" + "IA", UPPER + "234567", 16),
  (dice) => ({ rule: "aws-secret-key", name: "aws_secret_access_key", secret: dice.text(`${B62}/+`, 40) }),
  token("github-token", "gh" + "p_", B62, 36),
  token("github-token", "gh" + "s_", B62, 36),
  token("github-token", "github" + "_pat_", B62, 82),
  token("gitlab-personal-access-token", "gl" + "pat-", B62, 20),
  token("npm-access-token", "np" + "m_", B62, 36),
  (dice) => ({ rule: "assigned-secret", secret: dice.text(B62, 36), name: "//registry.example.org/:_authToken" }),
  (dice) => ({
    rule: "slack-token",
    secret: `xo${"xb"}-${dice.text(DIGITS, 12)}-${dice.text(DIGITS, 12)}-${dice.text(B62, 24)}`,
  }),
  (dice) => ({
    rule: "slack-token",
    secret: `xa${"pp"}-1-A${dice.text(UPPER, 10)}-${dice.text(DIGITS, 13)}-${dice.text(HEX, 40)}`,
  }),
  (dice) => ({
    rule: "slack-webhook",
    secret: `https://hooks.${"slack"}.com/services/T${dice.text(UPPER, 8)}/B${dice.text(UPPER, 8)}/${dice.text(B62, 24)}`,
  }),
  (dice) => ({ rule: "sendgrid-key", secret: `S${"G"}.${dice.text(B62, 22)}.${dice.text(B62, 43)}` }),
  token("shopify-key", "shp" + "at_", HEX, 32),
  token("stripe-secret-key-live", "sk" + "_live_", B62, 24),
  token("stripe-restricted-key-test", "rk" + "_test_", B62, 24),
  (dice) => ({ rule: "openai-token", secret: `sk-proj-${dice.text(B62, 58)}T3Blbk${"FJ"}${dice.text(B62, 58)}` }),
  ending(token("anthropic-api-key", "sk-ant-" + "api03-", URL64, 93), "AA"),
  token("anthropic-api-key", "sk-ant-" + "oat01-", B62, 95),
  token("groq-api-key", "gs" + "k_", B62, 52),
  token("huggingface-user-access-token", "h" + "f_", UPPER + LOWER, 34),
  token("linear-api-token", "lin_" + "api_", B62, 40),
  (dice) => ({ rule: "notion-integration-token", secret: `nt${"n"}_${dice.text(DIGITS, 11)}${dice.text(B62, 35)}` }),
  (dice) => {
    const account = { secretKey: dice.text(B62, 40), srpX: dice.text(HEX, 64), muk: dice.text(B62, 30), name: "" };
    account.name = "x".repeat((4 - (JSON.stringify(account).length % 3)) % 3);
    return { rule: "onepassword-token", secret: `op${"s"}_${Buffer.from(JSON.stringify(account)).toString("base64")}` };
  },
  token("hashicorp-vault-service-token", "hv" + "s.", URL64, 95),
  token("vercel-personal-access-token", "vc" + "p_", B62, 40),
  token("databricks-personal-access-token", "da" + "pi", HEX, 32),
  token("docker-personal-access-token", "dckr" + "_pat_", URL64, 27),
  token("figma-personal-access-token", "fi" + "gd_", B62, 43),
  (dice) => ({ rule: "cloudflare-user-api-token", secret: `cfu${"t"}_${dice.text(B62, 40)}${dice.text(HEX, 8)}` }),
  (dice) => ({ rule: "tailscale-auth-key", secret: `tskey-${"auth"}-${dice.text(B62, 17)}-${dice.text(B62, 32)}` }),
  (dice) => ({ rule: "grafana-service-account-token", secret: `gls${"a"}_${dice.text(B62, 32)}_${dice.text(HEX, 8)}` }),
  (dice) => ({
    rule: "parley-key",
    secret: makeKeyText(dice.one(SCOPES), (size) => Buffer.from(dice.text(B62, size))),
  }),
  token("webhook-secret", "whs" + "ec_", B62, 32),
  token("google-api-key", "AI" + "za", B62, 35),
  token("google-oauth-secret", "GOCS" + "PX-", B62, 28),
  token("pypi-token", "py" + "pi-", B62, 120),
  token("digitalocean-token", "dop" + "_v1_", HEX, 64),
  (dice) => ({ rule: "telegram-bot-token", secret: `${dice.text("123456789", 10)}:A${"A"}${dice.text(B62, 33)}` }),
  token("twilio-api-key", "S" + "K", HEX, 32),
  token("age-secret-key", "AGE-" + "SECRET-KEY-1", UPPER + DIGITS, 58),
  (dice) => ({
    rule: "json-web-token",
    secret: `ey${"J"}${dice.text(B62, 33)}.ey${"J"}${dice.text(B62, 80)}.${dice.text(URL64, 42)}`,
  }),
  token("api-key", "sk-or-" + "v1-", HEX, 64),
  privateKey,
  (dice) => ({
    rule: "url-password",
    secret: encodeURIComponent(password(dice)),
    name: dice.one(["postgres", "redis", "amqp", "https", "mongodb+srv"]),
  }),
  assigned((dice) => dice.text(B62, 20 + dice.below(20))),
  assigned((dice) => dice.text(HEX, 32 + 2 * dice.below(16))),
  assigned((dice) => dice.text(`${B62}+/`, 43) + "="),
  assigned(uuid),
  assigned(password, ["password", "DB_PASSWORD", "passwd", "Passwort", "pwd", "client_secret"]),
];

/** Returns a text, as an agent might write it, with the secret in it. */
export function hide({ rule, secret, name }: Planted, dice: Dice): string {
  if (rule === "url-password") return dice.one(PLACES)(`${name}://app:${secret}@db-3.internal:5432/shop`);
  return name === undefined ? dice.one(PLACES)(secret) : dice.one(ASSIGNMENTS)(name, secret);
}

const PLACES: readonly ((secret: string) => string)[] = [
  (secret) => `Can somebody check whether ${secret} still works? The deploy to staging failed.`,
  (secret) => `Funktioniert ${secret} noch? Das Ausrollen ist heute Nacht fehlgeschlagen.`,
  (secret) => secret,
  (secret) => `curl -s https://api.example.com/v2/items -H 'X-Key: ${secret}' | jq .`,
  (secret) => `\`\`\`ts\nconst client = connect("${secret}");\nawait client.ping();\n\`\`\`\nIs this how it is meant?`,
  (secret) => `2026-11-20T10:11:12Z ERROR upstream said 401 for (${secret}), retrying\nWhat now?`,
  (secret) => `😀 Which is right: "${secret}", or the old one?`,
  (secret) => JSON.stringify({ tool: "http", value: secret, tries: 3 }),
];

const ASSIGNMENTS: readonly ((name: string, secret: string) => string)[] = [
  (name, secret) => `The login fails. ${name}: ${secret}. Any idea?`,
  (name, secret) => `export ${name}=${secret}\nnpm start`,
  (name, secret) => `services:\n  web:\n    environment:\n      ${name}: "${secret}"\n`,
  (name, secret) => JSON.stringify({ host: "db-3.internal", [name]: secret, port: 5432 }),
  (name, secret) => JSON.stringify({ body: JSON.stringify({ [name]: secret }) }),
  (name, secret) => `const config = { ${name.replaceAll("-", "_")}: '${secret}' };\n// why is this refused?`,
  (name, secret) => `${name} := "${secret}"`,
  (name, secret) => `Why does this fail?\n$ deploy --region eu --${name.replace(/.*[/:]/, "")} ${secret} --dry-run`,
  (name, secret) => `https://files.example.com/report?user=7&${encodeURIComponent(name)}=${secret}`,
  (name, secret) => `The ${name} is ${secret} and it should work, shouldn't it?`,
  (name, secret) => `Das ${name} lautet ${secret} - stimmt das so?`,
  (name, secret) => `<add key="x"/><${name}>${secret}</${name}>`,
];

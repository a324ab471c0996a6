import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { rules as preset } from "@secretlint/secretlint-rule-preset-recommend";
import { parseExactJson } from "../../src/lib/json/exact-json.ts";
import { openSecretScan, redact, type Find, type SecretText } from "../../src/lib/secrets/secret-scan.ts";
import { redactJson, stringsOf } from "../../src/lib/json/strings-of.ts";
import { ordinaryPrompt } from "../support/ordinary-prompts.ts";
import { Dice, FORMATS, hide } from "../support/secret-corpus.ts";

const CANARY = "Quokka Feldberg 7";
const scan = openSecretScan({ canaries: [CANARY] });
after(() => scan.close());

const PLANTED = 10 * FORMATS.length;
const ORDINARY = 5000;
const dice = new Dice(20_261_121);
const machineMade = (length: number) => dice.text("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789", length);

/** Looks through many texts, some at a time, and returns the finds of each. */
async function findInAll(texts: readonly string[]): Promise<Find[][]> {
  const found: Find[][] = [];
  for (let from = 0; from < texts.length; from += 50) {
    const part = texts.slice(from, from + 50).map((text, i): SecretText => ({ path: String(i), text }));
    const { finds, timedOut } = await scan.find(part);
    assert.equal(timedOut, false);
    found.push(...part.map(({ path }) => finds.filter((find) => find.path === path)));
  }
  return found;
}

const findIn = async (text: string) => (await findInAll([text]))[0] ?? [];

describe("the corpus", () => {
  it(`finds each of ${PLANTED} planted secrets, from its first character to its last`, async () => {
    assert.ok(PLANTED >= 500);
    const planted = FORMATS.flatMap((draw) => Array.from({ length: 10 }, () => draw(dice)));
    const texts = planted.map((one) => hide(one, dice));
    assert.deepEqual(
      texts.filter((text) => !scan.isSuspect(text)),
      [],
    );
    const found = await findInAll(texts);
    const missed = planted.flatMap(({ secret, rule, name }, i) => {
      const text = texts[i] ?? "";
      const shown =
        [secret, JSON.stringify(secret).slice(1, -1)].find((form) => text.includes(form)) ?? assert.fail(rule);
      const from = [...text.slice(0, text.indexOf(shown))].length;
      const whole = found[i]?.find((find) => find.from <= from && find.to >= from + shown.length);
      const isNamed = name !== undefined || whole?.rule === rule;
      return whole && isNamed ? [] : [`${rule} ${name ?? ""}: ${whole?.rule ?? "nothing"}`];
    });
    assert.deepEqual(missed, []);
  });

  it(`takes under 1 % of ${ORDINARY} ordinary prompts for secrets`, async () => {
    const prompts = Array.from({ length: ORDINARY }, (_, i) => ordinaryPrompt(dice, i));
    assert.ok(new Set(prompts).size > ORDINARY / 2);
    const found = await findInAll(prompts);
    const alarms = prompts.flatMap((prompt, i) =>
      (found[i] ?? []).map(({ rule, from, to }) => `${rule}: ${prompt.slice(from, to)}`),
    );
    const wrong = found.filter(({ length }) => length > 0).length;
    assert.ok(wrong < ORDINARY / 100, `${wrong} false alarms, such as\n${alarms.slice(0, 20).join("\n")}`);
  });

  it("has every rule of the preset that is used, and none that nobody has looked at", () => {
    const ids = (preset as unknown as { meta: { id: string } }[]).map(({ meta }) => meta.id.split("-rule-")[1]);
    const unused = "basicauth database-connection-string filter-comments gcp privatekey";
    const used =
      "1password anthropic aws cloudflare databricks docker figma github gitlab grafana groq hashicorp-vault huggingface " +
      "linear notion npm openai sendgrid shopify slack stripe tailscale vercel";
    assert.deepEqual(ids.toSorted(), `${unused} ${used}`.split(" ").toSorted());
  });
});

describe("a search for secrets", () => {
  it("tells where they stand, in characters", async () => {
    const secret = machineMade(24);
    assert.deepEqual(await findIn(`😀 token: ${secret}.`), [{ path: "0", rule: "assigned-secret", from: 9, to: 33 }]);
  });

  it("finds the operator's canaries in whatever surrounds them", async () => {
    assert.deepEqual(await findIn(`my password is ${CANARY}${CANARY}, says (${CANARY})`), [
      { path: "0", rule: "canary", from: 15, to: 32 },
      { path: "0", rule: "canary", from: 32, to: 49 },
      { path: "0", rule: "canary", from: 57, to: 74 },
    ]);
    const inToken = openSecretScan({ canaries: ["Quokka77Quokka77"] });
    const { finds } = await inToken.find([{ path: "p", text: "token=Quokka77Quokka77x9Z8y7X6w5" }]);
    await inToken.close();
    assert.deepEqual(finds, [{ path: "p", rule: "canary", from: 6, to: 32 }]);
  });

  it("leaves references alone, and says one thing of one place", async () => {
    assert.deepEqual(await findIn(`password: secret://prod/${machineMade(30)} and SECRET=secret://x`), []);
    const token = ["gh", "p_", machineMade(36)].join("");
    assert.deepEqual(await findIn(`GITHUB_TOKEN=${token}`), [{ path: "0", rule: "github-token", from: 13, to: 53 }]);
  });

  it("is not switched off by what the text says", async () => {
    const token = ["gh", "p_", machineMade(36)].join("");
    assert.equal((await findIn(`/* secretlint-disable */ ${token}`)).length, 1);
  });

  it("takes a member's name for what it is called", async () => {
    const value = { args: { token: machineMade(30), page_token: machineMade(30), user: machineMade(30) } };
    const { finds } = await scan.find([...stringsOf(value)]);
    assert.deepEqual(finds, [{ path: "args.token", rule: "assigned-secret", from: 0, to: 30 }]);
  });

  it("says when it took too long, and goes on with the next", async () => {
    const token = ["gh", "p_", machineMade(36)].join("");
    const slow = { path: "slow", text: "ghs_1_".repeat(1_000_000) };
    const [late, next] = await Promise.all([
      scan.find([slow, { path: "canary", text: CANARY }]),
      scan.find([{ path: "next", text: token }]),
    ]);
    assert.equal(late.timedOut, true);
    assert.deepEqual(
      late.finds.map(({ path, rule }) => `${path}: ${rule}`),
      ["canary: canary"],
    );
    assert.deepEqual([next.timedOut, next.finds.length], [false, 1]);
  });
});

describe("taking secrets out", () => {
  it("puts the rule's name in the place of each", () => {
    const finds = [
      { rule: "canary", from: 9, to: 12 },
      { rule: "github-token", from: 2, to: 5 },
    ];
    assert.equal(redact("😀 abc or def", finds), "😀 [secret:github-token] or [secret:canary]");
    assert.equal(redact("abc", []), "abc");
  });

  it("keeps the shape of a value, names of members and long integers included", async () => {
    const [secret, token] = [machineMade(30), ["gh", "p_", machineMade(36)].join("")];
    const body = { prompt: `use ${CANARY}`, meta: { args: { token: secret, n: [1, null, token], "a.b": [token] } } };
    const text = JSON.stringify({ ...body, [token]: { [`${token}2`]: token }, __proto: 1 }).replace(
      "__proto",
      "__proto__",
    );
    const value = parseExactJson(Buffer.from(text.replace(":1}", ":1152921504606846977}")), { maxDepth: 8 });
    const { finds } = await scan.find([...stringsOf(value, scan.isSuspect)]);
    assert.ok(!JSON.stringify(finds).includes(token), "paths tell no secret");
    assert.deepEqual(
      finds.map(({ path, rule }) => `${path} ${rule}`),
      [
        "prompt canary",
        "meta.args.token assigned-secret",
        "meta.args.n[2] github-token",
        'meta.args["a.b"][0] github-token',
        "{2}#name github-token",
        "{2}{0} github-token",
      ],
    );
    const [gone, found] = ["[secret:assigned-secret]", "[secret:github-token]"];
    assert.equal(
      JSON.stringify(redactJson(value, finds)),
      `{"prompt":"use [secret:canary]","meta":{"args":{"token":"${gone}","n":[1,null,"${found}"],"a.b":["${found}"]}},` +
        `"${found}":{"${token}2":"${found}"},"__proto__":1152921504606846977}`,
    );
  });
});

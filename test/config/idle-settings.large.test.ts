import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ConfigMistake, listSettings, loadConfig } from "../../src/config/config.ts";
import { messagesOf } from "../support/log-lines.ts";
import { newFolder, parley, ROOT } from "../support/program.ts";

const FILE = join(ROOT, "idle.yaml");

/** The sentences with which a server refuses to start; none where it would start. */
function refusedFor(env: Record<string, string>, yaml = ""): string[] {
  writeFileSync(FILE, yaml);
  try {
    loadConfig({ env: { HOME: ROOT, ...env }, file: FILE, refuseIdle: true });
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigMistake);
    return error.message.replaceAll(FILE, "FILE").split("\n");
  }
}

describe("a variable PARLEY_* that nothing reads", () => {
  it("is refused with the one that is meant", () => {
    assert.deepEqual(refusedFor({ PARLEY_PUBLC_URL: "https://ask.example.com" }), [
      `PARLEY_PUBLC_URL: there is no such setting; "PARLEY_PUBLIC_URL" is meant, perhaps.`,
    ]);
    assert.deepEqual(refusedFor({ PARLEY_SLACK_TOKEN: "xoxb-1" }), [
      `PARLEY_SLACK_TOKEN: there is no such setting; "PARLEY_SLACK_BOT_TOKEN" or "PARLEY_SLACK_APP_TOKEN" is meant, perhaps.`,
    ]);
    assert.deepEqual(refusedFor({ PARLEY_NONSENSE_WITHOUT_END: "1" }), [
      "PARLEY_NONSENSE_WITHOUT_END: there is no such setting.",
    ]);
  });

  it("is none that a program reads, that a setting names, that is empty, or that tells of a service", () => {
    const read = Object.fromEntries(listSettings().map(({ variable }) => [variable, ""]));
    const others = { PARLEY_KEY: "parley_agent_x", PARLEY_URL: "http://box:1", PARLEY_PUBLC_URL: "" };
    const links = {
      PARLEY_WEB_SERVICE_HOST: "10.0.0.1",
      PARLEY_WEB_SERVICE_PORT_HTTP: "3415",
      PARLEY_WEB_PORT: "tcp://10.0.0.1:3415",
      PARLEY_WEB_PORT_3415_TCP_ADDR: "10.0.0.1",
    };
    assert.deepEqual(refusedFor({ ...read, ...others, ...links }), []);
    const model = "runner: { model: anthropic/claude-sonnet-4-5, api_key_env: PARLEY_MODEL_KEY }";
    assert.deepEqual(refusedFor({ PARLEY_MODEL_KEY: "secret" }, model), []);
  });
});

describe("a setting that does nothing alone", () => {
  it("is refused with what it lacks", () => {
    const LACKS: readonly [yaml: string, sentences: string[]][] = [
      ["email: { from: Parley <parley@example.com> }", ["FILE:1: email.from does nothing without email.smtp_url."]],
      [
        "email:\n  imap_url: imaps://a:b@mail.example.com/INBOX",
        ["FILE:2: email.imap_url does nothing without email.smtp_url and email.from."],
      ],
      ["database_listen_url: postgres://db/parley", ["FILE:1: database_listen_url does nothing without database_url."]],
      ["slack: { app_token: xapp-1 }", ["FILE:1: slack.app_token does nothing without slack.bot_token."]],
      [
        'twilio: { sms_from: "+4930901820", countries: ["+49"] }\npublic_url: https://ask.example.com',
        [
          "FILE:1: twilio.sms_from does nothing without twilio.account_sid and twilio.auth_token.",
          "FILE:1: twilio.countries does nothing without twilio.account_sid and twilio.auth_token.",
        ],
      ],
      [
        "telemetry: { service_name: desk }",
        ["FILE:1: telemetry.service_name does nothing without telemetry.otlp_url."],
      ],
    ];
    for (const [yaml, sentences] of LACKS) assert.deepEqual(refusedFor({}, yaml), sentences, yaml);
  });

  it("is taken with what it needs, and as its default", () => {
    assert.deepEqual(
      refusedFor({ PARLEY_SMTP_URL: "smtp://a:b@mail" }, "email: { from: a@example.com, domain: example.com }"),
      [],
    );
    assert.deepEqual(refusedFor({ OTEL_SERVICE_NAME: "desk" }, ""), []);
    assert.deepEqual(refusedFor({}, "email: { templates: off }\nslack: { channel_approvers: enrolled }"), []);
  });
});

describe("parley config check", () => {
  it("says where each setting comes from, and shows no secret", async () => {
    writeFileSync(FILE, "port: 8080\nslack:\n  bot_token: xoxb-canary\n  app_token: xapp-canary\n");
    const { code, out } = await parley(["config", "check", FILE], { PARLEY_HOST: "0.0.0.0" });
    assert.equal(code, 0);
    assert.match(out, /^host +0\.0\.0\.0 +PARLEY_HOST$/m);
    assert.match(out, /^port +8080 +\S+idle\.yaml:1$/m);
    assert.match(out, /^slack\.bot_token +\[secret\] +\S+idle\.yaml:3$/m);
    assert.ok(!out.includes("canary"));
  });

  it("refuses what a server does not start on, in the same words", async () => {
    writeFileSync(FILE, "slack: { app_token: xapp-1 }\n");
    const checked = await parley(["config", "check", "--config", FILE], { PARLEY_PROT: "1" });
    const started = await parley(["serve", "--config", FILE, "--data-dir", newFolder()], { PARLEY_PROT: "1" });
    assert.deepEqual(checked, { ...started, err: messagesOf(started.err) });
    assert.equal(checked.code, 1);
    assert.match(
      checked.err,
      /PARLEY_PROT: .*"PARLEY_PORT" is meant, perhaps\.\n.* does nothing without slack\.bot_token\.\n$/,
    );
  });
});

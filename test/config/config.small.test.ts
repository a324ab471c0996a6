import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { stringify } from "yaml";
import { type Config, ConfigMistake, listSettings, loadConfig } from "../../src/config/config.ts";
import { DEFAULT_CROWD_RULES } from "../../src/questions/model/rules.ts";

const HOME = mkdtempSync(join(tmpdir(), "parley-config-"));
after(() => rmSync(HOME, { recursive: true }));

let files = 0;
function fileWith(text: string): string {
  const path = join(HOME, `settings-${(files += 1)}.yaml`);
  writeFileSync(path, text);
  return path;
}

function mistakesIn(load: () => Config): string[] {
  try {
    load();
  } catch (error) {
    assert.ok(error instanceof ConfigMistake);
    return error.message.split("\n");
  }
  return assert.fail("the settings were accepted");
}

const NO_POSTGRES =
  "database_url must be a postgres:// address, in which a #, / or ? of the password is written as %23, %2F or %3F.";

describe("addresses among the settings", () => {
  const CHANNELS = { PARLEY_EMAIL_FROM: "parley@example.com" };
  const refused = (variable: string, value: string) => {
    const [first = "", ...more] = mistakesIn(() => loadConfig({ env: { HOME, ...CHANNELS, [variable]: value } }));
    assert.deepEqual(more, [], value);
    assert.ok(first.startsWith(`${variable}: `), first);
    assert.doesNotMatch(first, /s3cr3t/);
    return first;
  };

  it("are refused with the name of the setting, and without a password, where they cannot be taken apart", () => {
    for (const url of [
      "postgres://parley:s3cr3t#pw@127.0.0.1:1/parley",
      "postgres://parley:s3cr3t/pw@127.0.0.1:1/parley",
      "postgres://parley:s3cr3t?pw@127.0.0.1:1/parley",
      "postgres://parley:12#s3cr3t@127.0.0.1/parley",
      "postgres://parley:12/s3cr3t@127.0.0.1/parley",
      "postgres://parley:12?s3cr3t@127.0.0.1/parley",
      "postgres://parley:s3cr3t@127.0.0.1:99999/parley",
      "postgres://parley:s3cr3t@127.0.0.1:5432,127.0.0.1:99999/parley",
      "postgres://parley:s3cr3t%E0%A4@127.0.0.1/parley",
      "postgres:parley:s3cr3t@127.0.0.1/parley",
      "mysql://parley:s3cr3t@127.0.0.1/parley",
      "s3cr3t",
    ]) {
      assert.equal(refused("DATABASE_URL", url), `DATABASE_URL: ${NO_POSTGRES}`);
    }
    for (const [variable, name, urls] of [
      [
        "PARLEY_SMTP_URL",
        "email.smtp_url",
        ["smtp://a:s3cr3t#x@mail.example.com", "smtp://a:1#s3cr3t@mail", "smtp:s3cr3t"],
      ],
      [
        "PARLEY_SMTP_URL",
        "email.smtp_url",
        ["smtp://a:s3cr3t%@mail.example.com", "smtp://a:1/s3cr3t@mail.example.com"],
      ],
      ["PARLEY_IMAP_URL", "email.imap_url", ["imaps://a:s3cr3t/x@mail.example.com", "imaps://a:9?s3cr3t@mail"]],
      [
        "PARLEY_PUBLIC_URL",
        "public_url",
        ["https://ana:s3cr3t@ask.example.com", "https://ana:s3cr3t/x@ask.example.com"],
      ],
      ["PARLEY_TELEMETRY_OTLP_URL", "telemetry.otlp_url", ["ftp://a:s3cr3t@c.example.com", "http://a:1#s3cr3t@c"]],
      [
        "PARLEY_RUNNER_BASE_URL",
        "runner.base_url",
        ["http://a:s3cr3t@models.example.com/v1", "https://a:s3cr3t#x@m/v1"],
      ],
      ["PARLEY_TWILIO_API_URL", "twilio.api_url", ["http://a:s3cr3t@127.0.0.1:4010", "http://a:s3cr3t@10.0.0.1"]],
      ["PARLEY_EMAIL_LISTEN", "email.listen", ["127.0.0.1:99999", "127.0.0.1"]],
      ["PARLEY_HOST", "host", ["http://127.0.0.1", "127.0.0.1:3415", "a b", "-"]],
      ["PARLEY_WEBHOOKS_ALLOW", "webhooks.allow[0]", ["hooks.internal:65536"]],
    ] as const) {
      for (const url of urls) assert.ok(refused(variable, url).startsWith(`${variable}: ${name} must be `), url);
    }
  });

  it("are taken in every form that can be", () => {
    for (const url of [
      "postgres://parley:s3cr3t%23pw@127.0.0.1:5432/parley",
      "postgresql://ana@/parley?host=/run/postgresql",
      "postgres:///parley?host=/run/postgresql",
      "postgres://%2Frun%2Fpostgresql/parley",
      "postgres://ana:100%@db.internal/parley?sslmode=verify-full",
      "postgres://ana:a@b@[::1]:5432/parley",
      "postgres://db",
      "postgres://ana:a,b@db-1:5432,db-2,[::1]:5433/parley?target_session_attrs=read-write",
    ]) {
      assert.equal(loadConfig({ env: { HOME, DATABASE_URL: url } }).databaseUrl, url);
    }
    for (const host of ["127.0.0.1", "::1", "0.0.0.0", "::", "localhost", "ask.example.com", "my_host", "parley"]) {
      assert.equal(loadConfig({ env: { HOME, PARLEY_HOST: host } }).host, host);
    }
    const smtpUrl = "smtp://ana%40example.com:a%23b@mail.example.com:587";
    assert.equal(loadConfig({ env: { HOME, ...CHANNELS, PARLEY_SMTP_URL: smtpUrl } }).email.smtpUrl, smtpUrl);
  });
});

describe("settings", () => {
  it("need nothing to be set", () => {
    const config = loadConfig({ env: { HOME } });
    assert.equal(config.host, "127.0.0.1");
    assert.equal(config.port, 3415);
    assert.equal(config.dataDir, join(HOME, ".local/share/parley"));
    assert.equal(config.publicUrl, "http://127.0.0.1:3415");
    assert.equal(config.keyFile, join(HOME, ".local/share/parley/installation.key"));
    assert.deepEqual([config.open, config.loopbackOnly], [undefined, true]);
    assert.equal(config.crowd.public, false);
    assert.deepEqual(config.crowd.rules, DEFAULT_CROWD_RULES);
  });

  it("need no type of an agent whose name is known, and say what is missing of any other", () => {
    const agentsOf = (text: string) => {
      const { agents } = loadConfig({ env: { HOME }, file: fileWith(`agents: ${text}\n`) }).assignment;
      return new Map(agents.map((one) => [one.name, one]));
    };
    const usual = agentsOf("{}");
    const given = agentsOf("{ claude: { key_proxy: true }, gemini: { pass_env: [GEMINI_API_KEY] }, codex: {} }");
    assert.deepEqual(given.get("claude"), { ...usual.get("claude"), keyProxy: true });
    assert.deepEqual(given.get("gemini"), { ...usual.get("gemini"), passEnv: ["GEMINI_API_KEY"] });
    assert.deepEqual(given.get("codex"), usual.get("codex"));
    const moved = agentsOf("{ opencode: { command: [/opt/opencode, acp] }, claude: { type: command, command: [x] } }");
    assert.deepEqual(
      [moved.get("opencode")?.type, moved.get("opencode")?.flavour, moved.get("claude")?.type],
      ["acp", "opencode", "command"],
    );
    for (const text of [
      "{ mine: {} }",
      "{ mine: { command: [x] } }",
      "{ claude: { type: acp } }",
      "{ constructor: {} }",
    ]) {
      assert.match(mistakesIn(() => void agentsOf(text) as unknown as Config)[0] ?? "", /agents/, text);
    }
  });

  it("come from flags before the environment, and from the environment before the file", () => {
    const file = fileWith("port: 1001\nhost: 10.0.0.1\nlog: { level: warn }\n");
    const env = { HOME, PARLEY_PORT: "1002", PARLEY_HOST: "10.0.0.2" };
    const config = loadConfig({ env, file, flags: { port: "1003" } });
    assert.deepEqual([config.port, config.host, config.log.level], [1003, "10.0.0.2", "warn"]);
  });

  it("have a variable for every key, and the names that earlier tools used", () => {
    const env = {
      HOME,
      PARLEY_ASK_A_HUMAN_LIMITS_OPEN_QUESTIONS: "7",
      PARLEY_ASK_A_HUMAN_POINTS_BONUSES: "true",
      PARLEY_CORS_ORIGINS: "https://a.example, https://b.example",
      ASK_ANSWER_PORT: "1004",
      ASK_ANSWER_WAIT_SEC: "30",
      PARLEY_SSE_HEARTBEAT_S: "5",
      ASK_ANSWER_SSE_HEARTBEAT_SEC: "6",
      DATABASE_URL: "postgres://db/parley",
      PARLEY_HOSTS: "Parley.Example,[::2]",
      PARLEY_LOG_LEVEL: "",
    };
    const config = loadConfig({ env });
    assert.equal(config.crowd.rules.limits.openQuestions, 7);
    assert.equal(config.crowd.rules.points.bonuses, true);
    assert.deepEqual(config.cors.origins, ["https://a.example", "https://b.example"]);
    assert.deepEqual(config.hosts, ["parley.example", "[::2]"]);
    assert.deepEqual([config.port, config.waitCapS, config.sseHeartbeatS], [1004, 30, 5]);
    assert.equal(config.databaseUrl, "postgres://db/parley");
    assert.equal(config.log.level, "info");
  });

  it("take the contract's block as it is printed there", () => {
    const file = fileWith(`ask_a_human:
  points: { text: 10, multiple_choice: 5, bonuses: false, daily_cap: 500 }
  retention: { closed_days: 7, expired_days: 7 }          # never under 1
  limits: { questions_per_hour: 60, open_questions: 100, agent_reads_per_hour: 600, answers_per_hour: 30, human_reads_per_hour: 300 }
  crowd: { public: false }                                # irrelevant while bound to loopback
  notify: { catch_up_minutes: 15, factor: 3 }
`);
    assert.deepEqual(loadConfig({ env: { HOME }, file }), loadConfig({ env: { HOME } }));
  });

  it("say that a server is for this computer only as long as each of them does", () => {
    const isOwn = (env: Record<string, string>) => loadConfig({ env: { HOME, ...env } }).loopbackOnly;
    for (const host of ["localhost", "127.0.0.2", "::1"]) assert.equal(isOwn({ PARLEY_HOST: host }), true, host);
    for (const host of ["0.0.0.0", "::", "10.0.0.2", "parley.example"]) {
      assert.equal(isOwn({ PARLEY_HOST: host }), false, host);
    }
    for (const url of ["http://localhost:3415", "https://parley.localhost", "http://[::1]:3415", "http://127.0.0.3"]) {
      assert.equal(isOwn({ PARLEY_PUBLIC_URL: url }), true, url);
    }
    for (const url of ["https://ask.example.com", "http://10.0.0.2:3415", "http://localhost.example.com"]) {
      assert.equal(isOwn({ PARLEY_PUBLIC_URL: url }), false, url);
    }
    assert.equal(isOwn({ PARLEY_HOSTS: "parley.localhost,[::1]" }), true);
    assert.equal(isOwn({ PARLEY_HOSTS: "parley.localhost,inner.example" }), false);
    for (const proxies of ["127.0.0.1", "10.0.0.0/8"]) {
      assert.equal(isOwn({ PARLEY_TRUSTED_PROXIES: proxies }), false, proxies);
    }
    assert.equal(isOwn({ PARLEY_OPEN: "true", PARLEY_CROWD_PUBLIC: "true" }), true);
  });

  it("are found in the data directory, and data goes where XDG says", () => {
    const data = join(HOME, "xdg");
    mkdirSync(join(data, "parley"), { recursive: true });
    writeFileSync(join(data, "parley", "parley.yaml"), "port: 1005\n");
    const config = loadConfig({ env: { HOME, XDG_DATA_HOME: data } });
    assert.deepEqual([config.port, config.dataDir], [1005, join(data, "parley")]);
  });

  it("read a secret from the file that a variable names", () => {
    const DATABASE_URL_FILE = fileWith("postgres://db/from-file\n");
    assert.equal(loadConfig({ env: { HOME, DATABASE_URL_FILE } }).databaseUrl, "postgres://db/from-file");
    const PARLEY_LIMITS_CANARIES_FILE = fileWith("Quokka, Feldberg 7\n\n  another canary\n");
    const { canaries } = loadConfig({ env: { HOME, PARLEY_LIMITS_CANARIES_FILE } }).limits;
    assert.deepEqual(canaries, ["Quokka, Feldberg 7", "another canary"]);
  });

  it("let the crowd be opened in either block, but not be contradicted", () => {
    const withFile = (text: string) => loadConfig({ env: { HOME }, file: fileWith(text) });
    assert.equal(withFile("crowd: { public: true }\n").crowd.public, true);
    assert.equal(withFile("ask_a_human: { crowd: { public: true } }\n").crowd.public, true);
    const [mistake] = mistakesIn(() =>
      withFile("crowd: { public: true }\nask_a_human: { crowd: { public: false } }\n"),
    );
    assert.match(mistake ?? "", /:2: ask_a_human\.crowd\.public says otherwise than crowd\.public/);
  });
});

describe("mistakes in settings", () => {
  const WRONG: readonly [text: string, sentence: string][] = [
    ["prot: 1\n", `FILE:1: there is no setting "prot"; "port" is meant, perhaps.`],
    ["limits:\n  nonsense: 1\n", `FILE:2: there is no setting "limits.nonsense".`],
    ["\nport: abc\n", `FILE:2: port must be a whole number between 0 and 65535, not "abc".`],
    ["port: .nan\n", `FILE:1: port must be a whole number between 0 and 65535, not NaN.`],
    ["port: .inf\n", `FILE:1: port must be a whole number between 0 and 65535, not Infinity.`],
    ["port: 2.5\n", `FILE:1: port must be a whole number between 0 and 65535, not 2.5.`],
    ["open: perhaps\n", `FILE:1: open must be true or false, not "perhaps".`],
    ["limits: 5\n", `FILE:1: limits must be a block of settings.`],
    ["hosts: a.example\n", `FILE:1: hosts must be a list, not "a.example".`],
    ["hosts: [a.example, 'b:80']\n", `FILE:1: hosts[1] must be a host name without a port, not "b:80".`],
    [
      "trusted_proxies: [10.0.0.0/99]\n",
      `FILE:1: trusted_proxies[0] must be an address or a range such as 10.0.0.0/8, not "10.0.0.0/99".`,
    ],
    [
      "cors: { origins: ['*'] }\n",
      `FILE:1: cors.origins[0] must be an origin such as https://app.example.com, not "*".`,
    ],
    ...["https://pad.example/x", "https://a.example;script-src *", "pad.example"].map((wrong): [string, string] => [
      `assignment: { prompt_pad: "${wrong}" }\n`,
      `FILE:1: assignment.prompt_pad must be an origin such as https://prompt-pad.danmercer.net, not "${wrong}".`,
    ]),
    ...["mailto:ops@localhost", "https://localhost:3415", "https://127.0.0.1", "mailto:ops@a.localhost"].map(
      (wrong): [string, string] => [
        `push: { subject: "${wrong}" }\n`,
        "FILE:1: push.subject must be a mailto: or https: address that others can reach: Apple's push service refuses " +
          `each message with one of this computer, not "${wrong}".`,
      ],
    ),
    [
      "public_url: https://a.example/parley\n",
      `FILE:1: public_url must be an http or https address without a path, not "https://a.example/parley".`,
    ],
    ["database_url: mysql://root:canary@db\n", `FILE:1: ${NO_POSTGRES}`],
    [
      "ask_a_human:\n  retention:\n    closed_days: 0\n",
      `FILE:3: ask_a_human.retention.closed_days must be a whole number between 1 and 36500, not 0.`,
    ],
    [
      "webhook_targets: { desk: { url: https://desk.example.com, secret: canary, humans: [1] } }\n",
      `FILE:1: webhook_targets must be a block of names, each with url, secret (whsec_...) and humans (numbers of people, as parley people list shows them, or names of people.groups).`,
    ],
    [
      "webhooks: { allow: [everything] }\n",
      `FILE:1: webhooks.allow[0] must be a host and port such as hooks.internal:8443, or a range, not "everything".`,
    ],
    [
      "twilio: { api_url: 'http://10.0.0.1:4010' }\n",
      `FILE:1: twilio.api_url must be an http address of this machine, not "http://10.0.0.1:4010".`,
    ],
    // A preview that is the very call would run it.
    ...[{ tool: "purge" }, { arguments: {} }, { tool: "list", arguments: { dry: true } }].map(
      (preview): [string, string] => [
        `gate: { tools: ${JSON.stringify({ "files.purge": { preview } })} }\n`,
        "FILE:1: gate.tools must be a block of names such as files.write_file, each with planned (true or false), or " +
          "preview (a block with tool, the name of another tool, or with arguments, at least one), " +
          `not ${JSON.stringify({ "files.purge": { preview } })}.`,
      ],
    ),
    ["limits: { canaries: [canary] }\n", "FILE:1: limits.canaries[0] must be a text of at least 8 characters."],
    ["wait_cap_s: 61\n", `FILE:1: wait_cap_s must be a whole number between 1 and 60, not 61.`],
    [
      "log: { level: loud }\n",
      `FILE:1: log.level must be one of fatal, error, warn, info, debug, trace, silent, not "loud".`,
    ],
    ["- port\n", `FILE:1: the file must hold settings, each as "name: value".`],
  ];
  for (const [text, sentence] of WRONG) {
    it(`are one sentence: ${text.trim().replaceAll("\n", " ")}`, () => {
      const file = fileWith(text);
      assert.deepEqual(
        mistakesIn(() => loadConfig({ env: { HOME }, file })),
        [sentence.replace("FILE", file)],
      );
    });
  }

  it("are all told at once, each where it stands", () => {
    const file = fileWith("port: x\n");
    const load = () => loadConfig({ env: { HOME, PARLEY_OPEN: "2" }, file, flags: { host: "" } });
    assert.deepEqual(mistakesIn(load), [
      `--host: host must be an address or host name, without a port, not "".`,
      `${file}:1: port must be a whole number between 0 and 65535, not "x".`,
      `PARLEY_OPEN: open must be true or false, not "2".`,
    ]);
  });

  it("name the line of broken YAML, and a file that is not there", () => {
    const broken = fileWith("port: 1\nhost: [\n");
    assert.match(
      mistakesIn(() => loadConfig({ env: { HOME }, file: broken }))[0] ?? "",
      /:[23]: this is not valid YAML: /,
    );
    const twice = fileWith("port: 1\nport: 2\n");
    assert.match(mistakesIn(() => loadConfig({ env: { HOME }, file: twice }))[0] ?? "", /:2: this is not valid YAML: /);
    const missing = join(HOME, "missing.yaml");
    assert.deepEqual(
      mistakesIn(() => loadConfig({ env: { HOME }, file: missing })),
      [`${missing} cannot be read: it does not exist.`],
    );
    assert.deepEqual(
      mistakesIn(() => loadConfig({ env: { HOME, DATABASE_URL_FILE: missing } })),
      [`DATABASE_URL_FILE: ${missing} cannot be read: it does not exist.`],
    );
  });
});

describe("parley.example.yaml", () => {
  const path = new URL("../../parley.example.yaml", import.meta.url);

  it("lists every setting with its default and its reason, and nothing else", () => {
    assert.equal(readFileSync(path, "utf8"), exampleFile());
  });

  it("is a settings file that changes nothing", () => {
    const config = loadConfig({ env: { HOME }, file: path.pathname });
    assert.deepEqual(config, loadConfig({ env: { HOME } }));
  });
});

/**
 * Returns the expected text of the example, made from the schema. Settings without a fixed default are commented out.
 */
function exampleFile(): string {
  const lines = [
    "# Settings of a Parley server, each with its default. Copy what you change to parley.yaml in the data directory,",
    "# or name a file with --config. The environment wins over the file: PARLEY_ and the name in upper case, such as",
    "# PARLEY_LIMITS_EDGE_BURST. Flags win over both.",
  ];
  let open: readonly string[] = [];
  for (const { name, schema, why, aliases, example } of listSettings()) {
    const keys = name.split(".");
    const blocks = keys.slice(0, -1);
    const shared = blocks.findIndex((block, i) => block !== open[i]);
    if (shared >= 0 || blocks.length < open.length) {
      const from = shared < 0 ? blocks.length : shared;
      if (from === 0) lines.push("");
      blocks.slice(from).forEach((block, i) => lines.push(`${"  ".repeat(from + i)}${block}:`));
    } else if (blocks.length === 0) {
      lines.push("");
    }
    open = blocks;
    const value: unknown = schema.safeParse(undefined).data;
    const indent = "  ".repeat(blocks.length);
    const also = aliases ? ` (${aliases.join(", ")})` : "";
    lines.push(`${indent}# ${why}${also}`);
    const shown = value === undefined ? String(example) : stringify(value).trim();
    lines.push(`${indent}${value === undefined ? "# " : ""}${keys.at(-1)}: ${shown}`);
  }
  return `${lines.join("\n")}\n`;
}

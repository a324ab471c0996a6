import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { parse } from "yaml";
import { until } from "../support/contract.ts";
import { itWith } from "../support/parts.ts";
import { reservePort } from "../support/ports.ts";
import { newFolder, parley, post, type Run, serve, stop } from "../support/program.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const RULES = join(ROOT, "deploy/prometheus/parley-alerts.yaml");
const UNITS = join(import.meta.dirname, "parley-alerts.promtool.yaml");
const read = (path: string) => readFileSync(path, "utf8");

interface Rule {
  alert: string;
  labels: { severity: string };
  annotations: { summary: string };
}
interface Panel {
  id: number;
  title: string;
  type: string;
  datasource: { uid: string };
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { refId: string; expr: string }[];
}

const { groups } = parse(read(RULES)) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read(join(ROOT, "deploy/grafana/parley.json"))) as {
  panels: Panel[];
  templating: { list: { name: string }[] };
};

function promtool(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
}

const itChecks = await itWith("promtool");
describe("the rules by which Prometheus alerts", () => {
  itChecks("are such as promtool takes, and so is how the server is read", () => {
    promtool("check", "rules", RULES);
    const folder = newFolder();
    mkdirSync(folder);
    const key = join(folder, "parley.key");
    writeFileSync(key, "key");
    const config = read(join(ROOT, "deploy/prometheus/prometheus.yaml"))
      .replace("credentials_file: /etc/prometheus/parley.key", `credentials_file: ${key}`)
      .replace("- /etc/prometheus/parley-alerts.yaml", `- ${RULES}`);
    writeFileSync(join(folder, "prometheus.yaml"), config);
    promtool("check", "config", join(folder, "prometheus.yaml"));
  });

  itChecks("fire when they should and not before, each of them", () => {
    const folder = newFolder();
    mkdirSync(folder);
    for (const path of [RULES, UNITS]) copyFileSync(path, join(folder, path.replace(/.*\//, "")));
    promtool("test", "rules", join(folder, "parley-alerts.promtool.yaml"));
    const { tests } = parse(read(UNITS)) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
    };
    const tried = tests.flatMap((one) => one.alert_rule_test);
    for (const fires of [true, false]) {
      const names = tried.filter((one) => one.exp_alerts.length > 0 === fires).map((one) => one.alertname);
      assert.deepEqual(
        names,
        rules.map(({ alert }) => alert),
      );
    }
  });

  it("say how soon somebody is wanted, and what is the matter", () => {
    for (const { alert, labels, annotations } of rules) {
      assert.match(labels.severity, /^(page|ticket)$/, alert);
      assert.match(annotations.summary, /[.]$/, alert);
    }
  });
});

describe("the dashboard for Grafana", () => {
  it("has panels that lie beside each other, each with its queries, and no variable that it does not declare", () => {
    const { panels, templating } = dashboard;
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const taken = new Set<string>();
    for (const { title, datasource, gridPos, targets } of panels) {
      assert.equal(datasource.uid, "${datasource}", title);
      assert.ok(targets.length > 0 && gridPos.x + gridPos.w <= 24, title);
      assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          assert.ok(!taken.has(`${x} ${y}`), `${title} lies on another`);
          taken.add(`${x} ${y}`);
        }
      }
    }
    const declared = [...templating.list.map(({ name }) => name), "__rate_interval"];
    for (const [, name = ""] of JSON.stringify(panels).matchAll(/\$\{?(\w+)/g))
      assert.ok(declared.includes(name), name);
  });
});

const itScrapes = await itWith("Prometheus");
describe("a Prometheus that reads a server", () => {
  const folder = newFolder();
  let server: Run & { url: string };
  let prometheus: ChildProcess | undefined;
  let said = "";
  let url = "";

  async function query(expr: string): Promise<unknown[]> {
    const reply = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`);
    const { status, error, data } = (await reply.json()) as {
      status: string;
      error?: string;
      data?: { result: unknown[] };
    };
    assert.equal(status, "success", `${expr}: ${String(error)}`);
    return data?.result ?? [];
  }

  before(async () => {
    const dataDir = newFolder();
    // Mail that nobody takes: a message waits.
    const mail = { PARLEY_SMTP_URL: "smtp://127.0.0.1:1", PARLEY_EMAIL_FROM: "parley@example.com" };
    server = await serve(dataDir, mail);
    const run = async (...args: string[]) => {
      const { code, out, err } = await parley([...args, "--data-dir", dataDir], mail);
      assert.equal(code, 0, err);
      return out.trim();
    };
    mkdirSync(folder);
    const key = join(folder, "parley.key");
    writeFileSync(key, await run("keys", "create", "prometheus", "--scope", "admin"));
    await run("people", "add", "Ana Ruiz", "--email", "ana@example.com");
    const agent = { authorization: `Bearer ${await run("keys", "create", "bot", "--scope", "agent")}` };
    const spec = { fn: "deploy", kwargs: {}, channel: { human: { id: "2" } } };
    const asked = await post(server.url, "/humanlayer/v1/function_calls", { run_id: "r", call_id: "c", spec }, agent);
    assert.ok(asked.ok, await asked.text());

    const rulesFile = join(folder, "alerts.yaml");
    // The test waits for an alert to fire, and skips the minute for which its condition must hold.
    writeFileSync(rulesFile, read(RULES).replaceAll(/\n +for: .*/g, ""));
    const port = await reservePort();
    const config = read(join(ROOT, "deploy/prometheus/prometheus.yaml"))
      .replace("credentials_file: /etc/prometheus/parley.key", `credentials_file: ${key}`)
      .replace("- /etc/prometheus/parley-alerts.yaml", `- ${rulesFile}`)
      .replace("ask.example.com:443", new URL(server.url).host)
      .replace("scheme: https", "scheme: http");
    const often = "global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }\n";
    writeFileSync(join(folder, "prometheus.yaml"), often + config);
    url = `http://127.0.0.1:${port}`;
    const flags = [
      `--config.file=${join(folder, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    if (itScrapes === it.skip) return;
    prometheus = spawn("prometheus", flags, { stdio: ["ignore", "ignore", "pipe"] });
    prometheus.stderr?.on("data", (chunk) => void (said += String(chunk)));
    await until(async () => {
      assert.equal(prometheus?.exitCode, null, said);
      return (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true;
    });
  });
  after(async () => {
    if (prometheus && prometheus.exitCode === null) {
      prometheus.kill("SIGTERM");
      await once(prometheus, "exit");
    }
    if (server.child.exitCode === null) await stop(server);
  });

  itScrapes("finds every figure that the dashboard shows and that an alert goes by", async () => {
    await until(async () => (await query('up{job="parley"} == 1')).length === 1);
    for (const { title, targets } of dashboard.panels) {
      for (const { expr } of targets) {
        const asked = expr.replaceAll("$job", "parley").replaceAll("$__rate_interval", "1m");
        await until(async () => (await query(asked)).length > 0).catch((error: unknown) => {
          throw new Error(`${title} shows nothing: ${asked}`, { cause: error });
        });
      }
    }
    for (const name of new Set(read(RULES).match(/\b(parley|nodejs)_\w+/g))) {
      assert.ok((await query(name)).length > 0, name);
    }
    assert.deepEqual(await query('ALERTS{alertstate="firing"}'), []);
  });

  itScrapes("alerts when the server is gone", async () => {
    await stop(server);
    const firing = 'ALERTS{alertname="ParleyDown", alertstate="firing", severity="page"}';
    await until(async () => (await query(firing)).length === 1);
  });
});

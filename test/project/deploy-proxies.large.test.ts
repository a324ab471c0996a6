import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request, type RequestOptions } from "node:https";
import { text as textOfStream } from "node:stream/consumers";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { until as untilSo } from "../support/contract.ts";
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from "../support/loopback-tls.ts";
import { itWith } from "../support/parts.ts";
import { reservePort } from "../support/ports.ts";
import { newFolder, parley, type Run, serve, stop, until } from "../support/program.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (name: string) => readFileSync(join(ROOT, "deploy/proxy", name), "utf8");
/** The number of requests from one address at once. It is small, so that a client soon exceeds it. */
const BURST = 40;

/** How a proxy is started with its configuration of `deploy/proxy`, at `port` and before the server at `server`. */
type Start = (place: { folder: string; port: number; server: string }) => readonly string[];

const PROXIES: readonly { name: "nginx" | "Caddy"; start: Start }[] = [
  {
    name: "nginx",
    start({ folder, port, server }) {
      const site = read("nginx.conf")
        .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
        .replace("server_name ask.example.com", "server_name localhost")
        .replace(/\/etc\/letsencrypt\S*fullchain\.pem/, join(folder, "tls.crt"))
        .replace(/\/etc\/letsencrypt\S*privkey\.pem/, join(folder, "tls.key"))
        .replace("127.0.0.1:3415", server);
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${name};`,
      );
      const whole = `daemon off; pid nginx.pid; events {} http { access_log off; ${temporary.join(" ")}\n${site}\n}`;
      writeFileSync(join(folder, "nginx.conf"), whole);
      return ["nginx", "-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")];
    },
  },
  {
    name: "Caddy",
    start({ folder, port, server }) {
      const certificate = `tls ${join(folder, "tls.crt")} ${join(folder, "tls.key")}`;
      const site = read("Caddyfile")
        .replace("ask.example.com {", `localhost:${port} {\n\tbind 127.0.0.1\n\t${certificate}`)
        .replace("127.0.0.1:3415", server);
      // HTTP/3 wants the UDP port of the same number, by which reservePort keeps it from other tests.
      const options = "{\n\tadmin off\n\tauto_https disable_redirects\n\tservers {\n\t\tprotocols h1 h2\n\t}\n}\n";
      writeFileSync(join(folder, "Caddyfile"), `${options}${site}`);
      return ["caddy", "run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")];
    },
  },
];

describe("the configurations of proxies", () => {
  it("stand in the documents as they are in deploy", () => {
    const page = readFileSync(join(ROOT, "docs/how-to/operate.md"), "utf8");
    for (const [language, name] of [
      ["caddyfile", "Caddyfile"],
      ["nginx", "nginx.conf"],
      ["yaml", "traefik.yaml"],
    ] as const) {
      assert.ok(page.includes(`\`\`\`${language}\n${read(name)}\`\`\`\n`), name);
    }
  });
});

for (const { name, start } of PROXIES) {
  const itHere = await itWith(name);
  describe(`behind ${name}, as deploy/proxy configures it`, () => {
    const folder = newFolder();
    const dataDir = newFolder();
    let server: Run & { url: string };
    let proxy: ChildProcess | undefined;
    let said = "";
    let port = 0;
    let ownPort = 0;
    let key = "";

    before(async () => {
      mkdirSync(folder);
      writeFileSync(join(folder, "tls.crt"), LOOPBACK_CERTIFICATE);
      writeFileSync(join(folder, "tls.key"), LOOPBACK_KEY);
      [port, ownPort] = [await reservePort(), await reservePort()];
      server = await serve(
        dataDir,
        {
          PARLEY_PUBLIC_URL: `https://localhost:${port}`,
          PARLEY_TRUSTED_PROXIES: "127.0.0.1",
          PARLEY_LIMITS_EDGE_PER_SECOND: "1",
          PARLEY_LIMITS_EDGE_BURST: String(BURST),
        },
        "--port",
        String(ownPort),
      );
      key = (await parley(["keys", "create", "ci", "--scope", "agent", "--data-dir", dataDir])).out.trim();
    });
    after(async () => {
      const gone = proxy?.exitCode === null && once(proxy, "close");
      proxy?.kill("SIGTERM");
      await gone;
      await stop(server);
    });

    async function opened(): Promise<void> {
      if (proxy) return;
      const [program = "", ...args] = start({ folder, port, server: `127.0.0.1:${ownPort}` });
      proxy = spawn(program, args, {
        env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder },
        stdio: ["ignore", "pipe", "pipe"],
      });
      for (const stream of [proxy.stdout, proxy.stderr])
        stream?.setEncoding("utf8").on("data", (text: string) => (said += text));
      await untilSo(async () => {
        assert.equal(proxy?.exitCode, null, said);
        return send("/healthz").then(
          ({ statusCode }) => statusCode === 200,
          () => false,
        );
      });
    }

    /** Sends a request through the proxy from an address of this machine; the reply's body is still to come. */
    async function send(path: string, more: RequestOptions & { body?: object } = {}): Promise<IncomingMessage> {
      const { body, headers, ...options } = more;
      const sent = request(`https://localhost:${port}${path}`, {
        ca: LOOPBACK_CERTIFICATE,
        family: 4,
        headers: { ...(body && { "content-type": "application/json" }), ...headers },
        ...options,
      });
      sent.end(body && JSON.stringify(body));
      const [reply] = (await once(sent, "response")) as [IncomingMessage];
      return reply;
    }

    const withKey = () => ({ headers: { authorization: `Bearer ${key}` } });
    async function asked(): Promise<string> {
      const body = { prompt: "Which label is clearer?", type: "text" };
      const reply = await send("/agent/questions", { method: "POST", body, ...withKey() });
      const made = JSON.parse(await textOfStream(reply)) as { question_id: string };
      assert.equal(reply.statusCode, 201, JSON.stringify(made));
      return made.question_id;
    }
    const cancel = (id: string) => send(`/agent/questions/${id}`, { method: "DELETE", ...withKey() });

    itHere("nobody is let in without a key, and a long wait is answered when something happens", async () => {
      await opened();
      assert.equal((await send("/agent/questions?status=OPEN")).statusCode, 401);
      const id = await asked();
      const waiting = send(`/agent/questions/${id}?wait=25`, withKey());
      const parked = 'parley_waiters_parked{kind="long-polls"} 1\n';
      const admin = (await parley(["keys", "create", "ops", "--scope", "admin", "--data-dir", dataDir])).out.trim();
      let looks = 0;
      await untilSo(async () => {
        // Each look comes from another address, so that none has looked too often.
        const localAddress = `127.0.1.${(looks += 1) % 250}`;
        const reply = await send("/metrics", { headers: { authorization: `Bearer ${admin}` }, localAddress });
        return (await textOfStream(reply)).includes(parked);
      });
      await cancel(id);
      assert.match(await textOfStream(await waiting), /"cancelled":true/);
    });

    itHere("events arrive while their stream is open", async () => {
      await opened();
      const id = await asked();
      const stream = await send("/agent/questions/events", withKey());
      assert.equal(stream.headers["content-type"], "text/event-stream; charset=utf-8");
      let heard = "";
      stream.setEncoding("utf8").on("data", (text: string) => (heard += text));
      stream.on("error", () => {});
      await cancel(id);
      await until(() => heard.includes(id), `the event\n${heard}`);
      assert.ok(!stream.complete, "the stream is open still");
      stream.destroy();
    });

    itHere("limits count whoever is behind the proxy, and not the proxy", async () => {
      await opened();
      const statusFrom = async (localAddress: string) =>
        (await send("/human/questions", { localAddress })).resume().statusCode;
      const statuses: unknown[] = [];
      while (!statuses.includes(429) && statuses.length < 20 * BURST) statuses.push(await statusFrom("127.0.0.2"));
      assert.equal(statuses.at(-1), 429);
      assert.notEqual(await statusFrom("127.0.0.3"), 429);
    });
  });
}

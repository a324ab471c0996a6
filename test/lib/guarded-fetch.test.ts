import assert from "node:assert/strict";
import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import https from "node:https";
import { createServer, type AddressInfo, type Server } from "node:net";
import { after, before, describe, it } from "node:test";
import {
  addressProblem,
  AddressRefused,
  openGuardedFetch,
  type GuardRules,
} from "../../src/lib/network/guarded-fetch.ts";
import { until } from "../support/contract.ts";
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY, trustLoopback } from "../support/loopback-tls.ts";

const STRICT: GuardRules = { allow: [], loopbackOnly: false };
const AT_HOME: GuardRules = { allow: [], loopbackOnly: true };
const POST = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };

/** Returns a resolver with these answers that counts its calls. */
function answering(...answers: string[][]): { resolve: () => Promise<string[]>; asked(): number } {
  let asked = 0;
  return {
    resolve: async () => answers[Math.min(asked++, answers.length - 1)] ?? [],
    asked: () => asked,
  };
}

async function listening(server: Server, host = "127.0.0.1"): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

describe("the guard of outgoing requests", () => {
  const servers: Server[] = [];
  const heard: { at: string | undefined; host: string | undefined; body: string }[] = [];
  let tlsPort = 0;
  let plainPort = 0;

  async function hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const part of request) body += String(part);
    heard.push({ at: request.socket.localAddress, host: request.headers.host, body });
    if (request.url === "/moved") return void response.writeHead(302, { location: "http://127.0.0.1/" }).end();
    if (request.url === "/endless") {
      response.writeHead(200);
      const more = () => response.write("x".repeat(4096), () => setImmediate(more));
      response.on("close", () => (response.write = () => false));
      more();
      return;
    }
    if (request.url === "/silent") return;
    response.writeHead(201, { "retry-after": "7" }).end("taken");
  }

  before(async () => {
    trustLoopback();
    const tls = https.createServer({ cert: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY }, (q, s) => void hear(q, s));
    tlsPort = await listening(tls, "0.0.0.0");
    const plain = http.createServer((q, s) => void hear(q, s));
    plainPort = await listening(plain);
    servers.push(tls, plain);
  });
  after(() => {
    for (const server of servers) {
      if (server instanceof http.Server || server instanceof https.Server) server.closeAllConnections();
      server.close();
    }
  });

  it("lets no address literal pass that the internet does not carry, however it is written", async () => {
    const refused = [
      "127.0.0.1",
      "127.255.255.254",
      "127.1",
      "0x7f.1",
      "0x7f000001",
      "017700000001",
      "2130706433",
      "①②⑦.0.0.1",
      "１２７.0.0.1",
      "0.0.0.0",
      "0.1.2.3",
      "10.0.0.1",
      "100.64.0.1",
      "100.127.255.255",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
      "192.0.0.8",
      "192.0.2.1",
      "192.88.99.1",
      "192.168.0.1",
      "198.18.0.1",
      "198.19.255.255",
      "198.51.100.1",
      "203.0.113.1",
      "224.0.0.1",
      "239.255.255.255",
      "240.0.0.1",
      "255.255.255.255",
      "[::]",
      "[::1]",
      "[0:0:0:0:0:0:0:1]",
      "[::127.0.0.1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[::ffff:10.0.0.1]",
      "[64:ff9b::127.0.0.1]",
      "[64:ff9b::a9fe:a9fe]",
      "[64:ff9b:1::1]",
      "[100::1]",
      "[2001::1]",
      "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
      "[2001:10::1]",
      "[2001:db8::1]",
      "[2002:7f00:1::]",
      "[2002:a00:1::]",
      "[3fff::1]",
      "[fc00::1]",
      "[fd12:3456::1]",
      "[fe80::1]",
      "[fec0::1]",
      "[ff02::1]",
    ];
    for (const host of refused) {
      assert.ok(addressProblem(`https://${host}/x`, STRICT), host);
      await assert.rejects(openGuardedFetch(() => STRICT)(`https://${host}/x`, POST), AddressRefused, host);
    }
    const taken = [
      "1.1.1.1",
      "8.8.8.8",
      "100.63.255.255",
      "172.32.0.1",
      "223.255.255.255",
      "[2606:4700::1111]",
      "[::ffff:8.8.8.8]",
      "[64:ff9b::808:808]",
    ];
    for (const host of taken) assert.equal(addressProblem(`https://${host}/x`, STRICT), null, host);
  });

  it("takes https at port 443 only, without a user, of hosts the internet could know", () => {
    const refused = [
      "http://hooks.example.com/",
      "ftp://hooks.example.com/",
      "file:///etc/passwd",
      "hooks.example.com",
      "https://",
      "https://hooks.example.com:8443/",
      "https://hooks.example.com:80/",
      "https://user@hooks.example.com/",
      "https://user:secret@hooks.example.com/",
      "https://hooks.example.com./",
      "https://intranet/",
      "https://localhost/",
      "https://a.localhost/",
      "https://printer.local/",
      "https://metadata.google.internal/",
      "https://metadata.goog/",
      "https://hooks.example.com/\r\nX-Evil: 1",
      " https://hooks.example.com/",
    ];
    for (const url of refused) assert.ok(addressProblem(url, STRICT), url);
    for (const url of [
      "https://hooks.example.com/a?b#c",
      "https://hooks.example.com:443/",
      "https://xn--bcher-kva.example/",
    ])
      assert.equal(addressProblem(url, STRICT), null, url);
  });

  it("dials nothing when one answer of many is refused", async () => {
    for (const answer of [
      ["127.0.0.1"],
      ["8.8.8.8", "127.0.0.1"],
      ["2606:4700::1111", "::ffff:10.0.0.1"],
      ["::1"],
      ["2002:7f00:1::"],
    ]) {
      const { resolve } = answering(answer);
      await assert.rejects(
        openGuardedFetch(() => STRICT, resolve)("https://hooks.example.com/", POST),
        AddressRefused,
        answer.join(),
      );
    }
    await assert.rejects(
      openGuardedFetch(() => AT_HOME, answering(["127.0.0.1"]).resolve)("https://hooks.example.com/", POST),
      AddressRefused,
    );
    await assert.rejects(
      openGuardedFetch(() => STRICT, answering([]).resolve)("https://hooks.example.com/", POST),
      /no address/,
    );
  });

  it("dials the very address it judged, though the name means another one a moment later", async () => {
    const names = answering(["127.0.0.2"], ["127.0.0.1"]);
    const guarded = openGuardedFetch(() => ({ allow: ["127.0.0.2/32"], loopbackOnly: false }), names.resolve);
    heard.length = 0;
    const reply = await guarded(`https://hooks.example.com:${tlsPort}/`, POST);
    assert.deepEqual([reply.status, reply.text, reply.headers["retry-after"]], [201, "taken", "7"]);
    assert.deepEqual(heard, [{ at: "127.0.0.2", host: `hooks.example.com:${tlsPort}`, body: "{}" }]);
    assert.equal(names.asked(), 1, "the name was resolved once, in the dial");

    await assert.rejects(guarded(`https://hooks.example.com:${tlsPort}/`, POST), AddressRefused);
    assert.equal(heard.length, 1);
  });

  it("keeps the name for the certificate", async () => {
    const guarded = openGuardedFetch(
      () => ({ allow: ["127.0.0.0/8"], loopbackOnly: false }),
      answering(["127.0.0.1"]).resolve,
    );
    await assert.rejects(guarded(`https://other.example.com:${tlsPort}/`, POST), {
      code: "ERR_TLS_CERT_ALTNAME_INVALID",
    });
  });

  it("makes exceptions for a host at a port, and for ranges, and for nothing beside them", async () => {
    const named = openGuardedFetch(
      () => ({ allow: [`hooks.example.com:${tlsPort}`], loopbackOnly: false }),
      answering(["127.0.0.1"]).resolve,
    );
    assert.equal((await named(`https://hooks.example.com:${tlsPort}/`, POST)).status, 201);
    await assert.rejects(named(`https://hooks.example.com:${plainPort}/`, POST), AddressRefused);
    await assert.rejects(named("https://hooks.example.com/", POST), AddressRefused);
    await assert.rejects(named(`http://hooks.example.com:${tlsPort}/`, POST), AddressRefused);

    const ranged: GuardRules = { allow: ["10.0.0.0/8", "fd00::/8", "192.168.7.7"], loopbackOnly: false };
    for (const host of ["10.1.2.3", "[::ffff:10.1.2.3]", "[fd00::1]", "192.168.7.7"])
      assert.equal(addressProblem(`https://${host}:8443/`, ranged), null, host);
    for (const host of ["11.1.2.3:8443", "127.0.0.1:8443", "[fe80::1]", "192.168.7.8", "8.8.8.8:8443"])
      assert.ok(addressProblem(`https://${host}/`, ranged), host);
    assert.ok(addressProblem("http://10.1.2.3/", ranged), "never in the clear");
  });

  it("reaches this machine in the clear only while nobody else reaches the server", async () => {
    heard.length = 0;
    const home = openGuardedFetch(() => AT_HOME);
    assert.equal((await home(`http://127.0.0.1:${plainPort}/`, POST)).status, 201);
    assert.equal((await home(`http://localhost:${plainPort}/`, POST)).status, 201);
    await assert.rejects(openGuardedFetch(() => STRICT)(`http://127.0.0.1:${plainPort}/`, POST), AddressRefused);
    await assert.rejects(home(`http://10.0.0.1:${plainPort}/`, POST), AddressRefused);
    const named = openGuardedFetch(() => AT_HOME, answering(["127.0.0.1"]).resolve);
    await assert.rejects(named(`http://hooks.example.com:${plainPort}/`, POST), AddressRefused);
    await assert.rejects(
      openGuardedFetch(() => AT_HOME, answering(["10.0.0.1"]).resolve)(`http://localhost:${plainPort}/`, POST),
      AddressRefused,
    );
    assert.equal(heard.length, 2);
  });

  it("follows no redirect, reads a kilobyte, and ends with its caller's patience", async () => {
    heard.length = 0;
    const home = openGuardedFetch(() => AT_HOME);
    const moved = await home(`http://127.0.0.1:${plainPort}/moved`, POST);
    assert.deepEqual([moved.status, heard.length], [302, 1]);
    assert.equal((await home(`http://127.0.0.1:${plainPort}/endless`, POST)).text.length, 1024);

    const patience = new AbortController();
    const waiting = home(`http://127.0.0.1:${plainPort}/silent`, { ...POST, signal: patience.signal });
    await until(() => heard.length === 3);
    patience.abort();
    await assert.rejects(waiting, { name: "AbortError" });
  });

  it("says plainly that nobody is there", async () => {
    const closed = createServer();
    const port = await listening(closed);
    closed.close();
    await assert.rejects(openGuardedFetch(() => AT_HOME)(`http://127.0.0.1:${port}/`, POST), { code: "ECONNREFUSED" });
  });
});

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { openKeptKeys } from "../../src/config/receipt-keys.ts";
import { claude } from "../../src/connect/agents/claude/claude.ts";
import { decided, overHttp } from "../../src/connect/decided.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { systemExchange, type HttpExchange } from "../../src/lib/network/exchange.ts";
import { makeSigningKey, publicPart, retiredPart, signReceipt } from "../../src/lib/receipt.ts";
import { fresh, ROOMY, sharedWorld } from "../support/contract.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-receipt-keys-"));
const HOME = { XDG_DATA_HOME: folder };
const KEPT = join(folder, "parley", "receipt-keys.json");
const RULE =
  "version: 1\nrules:\n  - id: bash\n    when: { fn: Bash, command: [ls, git log *] }\n    decision: ALLOW\n";

const kids = (url: string) => JSON.parse(readFileSync(KEPT, "utf8"))[url].map(({ kid }: { kid: string }) => kid);

/** Asks at a server whether a tool may run, and returns the decision with the paths that were asked for. */
async function ask(url: string, exchange: HttpExchange = systemExchange) {
  const input = { tool_name: "Bash", tool_use_id: fresh("use"), tool_input: { command: "ls" } };
  const event = { hook_event_name: "PreToolUse", session_id: "s", ...input };
  const prompt = claude.read(Buffer.from(JSON.stringify(event))) ?? assert.fail();
  const paths: string[] = [];
  const counted: HttpExchange = (address, sent) => {
    paths.push(`${sent.method} ${new URL(address).pathname}`);
    return exchange(address, sent);
  };
  const { signal } = new AbortController();
  const at = { url, key: undefined, agentId: claude.agentId, clock: systemClock, exchange: counted, signal };
  const way = overHttp({ ...at, leaseSeconds: 90, keptKeys: openKeptKeys(HOME) });
  const decision = await decided(way, claude, prompt, { to: undefined, by: undefined, timeoutSeconds: 10 });
  return { decision, paths };
}

describe("the receipt of a prompt that a rule allows", () => {
  after(() => rmSync(folder, { recursive: true, force: true }));
  // Receipts and prompts are of one clock.
  const world = sharedWorld({ on: "sqlite", env: ROOMY, at: Date.now() });
  before(async () => {
    writeFileSync(world().config.relay.policyFile, RULE);
    await world().server.reload();
  });
  const ASKED = "POST /a2h/v1alpha1/function_calls";
  const KEYS = "GET /.well-known/jwks.json";

  it("comes with the reply, and is checked with the key that was kept from the first prompt", async () => {
    const first = await ask(world().url);
    assert.deepEqual([first.decision.kind, first.paths], ["allow", [ASKED, KEYS]], first.decision.because);
    const second = await ask(world().url);
    assert.deepEqual([second.decision.kind, second.paths], ["allow", [ASKED]], second.decision.because);
  });

  it("is checked with the keys as they are now once the reply names another, or the kept ones are damaged", async () => {
    const { url } = world();
    await ask(url);
    const [present] = kids(url);
    const keptAs = (key: unknown) => JSON.stringify({ [url]: [key] });
    for (const text of [
      keptAs({ kid: "former", crv: "Ed25519", x: "AAAA" }),
      keptAs(null),
      ...[publicPart(await makeSigningKey()).x, "AAAA", 5, undefined].map((x) =>
        keptAs({ kid: present, crv: "Ed25519", x }),
      ),
      " ".repeat(1_000_001),
      "{",
      "[]",
      '{"a":',
    ]) {
      writeFileSync(KEPT, text);
      const { decision, paths } = await ask(url);
      assert.deepEqual([decision.kind, paths], ["allow", [ASKED, KEYS]], decision.because);
      assert.deepEqual(kids(url), [present]);
    }
  });

  it("takes no keys from a device, whose reading would never end", async () => {
    rmSync(KEPT, { force: true });
    mkdirSync(dirname(KEPT), { recursive: true });
    symlinkSync("/dev/zero", KEPT);
    const { decision, paths } = await ask(world().url);
    assert.deepEqual([decision.kind, paths], ["allow", [ASKED, KEYS]], decision.because);
    rmSync(KEPT);
  });

  it("allows nothing, in a sentence, where the server says no key as a key", async () => {
    rmSync(KEPT, { force: true });
    for (const keys of [[null], [5], [{ kid: 5 }]]) {
      const odd: HttpExchange = async (address, sent) =>
        address.endsWith("jwks.json")
          ? { status: 200, bytes: Buffer.from(JSON.stringify({ keys })) }
          : systemExchange(address, sent);
      const { decision } = await ask(world().url, odd);
      assert.equal(decision.because, "Not approved, because no present key of the server's has signed its receipt.");
    }
  });

  it("allows nothing under a retired key, whether or not that key was kept", async () => {
    const { url } = world();
    const [retired, present] = [await makeSigningKey(), await makeSigningKey()];
    const keys = [publicPart(present), retiredPart(retired, Date.now() + 60_000)];
    /** The server's own replies, with a receipt that says the same by the retired key. */
    const replied = (body: object) => ({ status: 200, bytes: Buffer.from(JSON.stringify(body)) });
    const forging: HttpExchange = async (address, sent) => {
      if (address.endsWith("jwks.json")) return replied({ keys });
      const { bytes } = await systemExchange(address, sent);
      const { status, ...rest } = JSON.parse(Buffer.from(bytes).toString()) as { status: { receipt: string } };
      const payload = JSON.parse(Buffer.from(status.receipt.split(".")[1] ?? "", "base64url").toString());
      const receipt = await signReceipt(payload, retired);
      return replied({ ...rest, status: { ...status, receipt, receipt_key: present.kid } });
    };
    for (const kept of [{}, { [url]: [publicPart(retired)] }, { [url]: [publicPart(present), publicPart(retired)] }]) {
      writeFileSync(KEPT, JSON.stringify(kept));
      const { decision } = await ask(url, forging);
      assert.deepEqual([decision.kind, /no present key/.test(decision.because)], ["deny", true], decision.because);
    }
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalExact } from "../../src/lib/json/exact-json.ts";
import type { Audience } from "../../src/requests/model/request.ts";
import { type Risk, type RiskReason, riskOf, riskReasonsOf } from "../../src/requests/model/risk.ts";

const INBOX: Audience = { is: "leaf", target: { via: "inbox" } };

function call(fn: string, kwargs: unknown, more: { audience?: Audience; wire?: Record<string, unknown> } = {}): Risk {
  const form = { kind: "approval" as const, fn, kwargs: canonicalExact(kwargs), rejectOptions: [], editable: false };
  return riskOf({ form, audience: more.audience ?? INBOX, wire: more.wire ?? {} });
}

function allAre(risk: Risk, calls: [fn: string, kwargs: unknown][]): void {
  for (const [fn, kwargs] of calls) assert.equal(call(fn, kwargs), risk, `${fn} ${JSON.stringify(kwargs)}`);
}

describe("the risk of a call", () => {
  it("is high where its name destroys something", () => {
    allAre("high", [
      ["delete_database", { name: "orders", skip_backup: true }],
      ["dropTable", { table: "orders" }],
      ["mcp__github__delete_repo", { repo: "shop" }],
      ["revoke-keys", {}],
      ["files.purge", {}],
    ]);
  });

  it("is high where what it runs destroys something, or where an argument chooses to", () => {
    allAre("high", [
      ["Bash", { command: "rm -rf build" }],
      ["Bash", { command: "git push --force-with-lease" }],
      ["Bash", { command: "git push origin main -f" }],
      ["query", { sql: "DROP TABLE orders" }],
      ["deploy", { args: { steps: ["plan", "terraform destroy"], command: ["terraform destroy"] } }],
      ["http", { method: "DELETE", url: "https://api.example.com/orders" }],
      ["manage_user", { action: "remove", user: "bo" }],
    ]);
  });

  it("is high where a safeguard is gone around, at any depth", () => {
    allAre("high", [
      ["migrate", { skip_backup: true }],
      ["migrate", { options: [{ force: true }] }],
      ["merge", { deleteBranch: "true" }],
      ["migrate", { backup: false }],
      ["deploy", { no_verify: true }],
      ["call", { verifyTls: false }],
    ]);
  });

  it("is high where several must agree, where its name hides something, and where nobody could read it all", () => {
    const audience: Audience = { is: "quorum", min: 2, of: [INBOX, INBOX] };
    assert.equal(call("list_orders", {}, { audience }), "high");
    assert.equal(call("list\u200b_orders", {}), "high");
    assert.equal(call("list_orders", { text: "x".repeat(100_000) }), "high");
    assert.equal(call("list_orders", { ids: Array.from({ length: 1001 }, (_, i) => i) }), "high");
  });

  it("is explained by each thing that makes it high, once, and by nothing where it is not", () => {
    const reasons = (fn: string, kwargs: unknown): RiskReason[] => {
      const form = {
        kind: "approval" as const,
        fn,
        kwargs: canonicalExact(kwargs),
        rejectOptions: [],
        editable: false,
      };
      return riskReasonsOf({
        form,
        audience: { is: "quorum", min: 2, of: [INBOX, INBOX] },
        wire: { guarded: ["key"] },
      });
    };
    assert.deepEqual(reasons("delete_orders\u200b", { key: "k", steps: [{ force: true }, { force: true }], n: 1 }), [
      { kind: "joint" },
      { kind: "unseen" },
      { kind: "secret" },
      { kind: "function", name: "delete" },
      { kind: "argument", name: "force" },
    ]);
    const list = { kind: "approval" as const, fn: "list", kwargs: "{}", rejectOptions: [], editable: false };
    assert.deepEqual(riskReasonsOf({ form: list, audience: INBOX, wire: {} }), []);
  });

  it("is low where it only reads, and nothing is run, called or opened by that", () => {
    allAre("low", [
      ["list_orders", { recursive: true, ignore_case: true }],
      ["getUser", { user: "bo" }],
      ["mcp__github__search_issues", { repo: "shop", limit: 5 }],
    ]);
    allAre("normal", [
      ["get_secret", { name: "stripe" }],
      ["get_config", { what: "token", token: "x" }],
      ["read_page", { page: "see https://example.com/x" }],
      ["find_rows", { sql: "SELECT 1" }],
      ["listing", {}],
    ]);
  });

  it("is high where an argument holds a secret, since part of what runs is masked then", () => {
    for (const guarded of [["note"], true]) {
      assert.equal(call("list_orders", { note: "hunter2" }, { wire: { guarded } }), "high");
    }
  });

  it("is normal for everything else, switches that are off among it", () => {
    allAre("normal", [
      ["page_someone", { who: "ops", message: "delete it all" }],
      ["issue_refund", { order: "A-1", amount: 49.9 }],
      ["Bash", { command: "npm test -- --reporter spec", description: "Remove nothing" }],
      ["Bash", { command: "tar -xzf a.tgz" }],
      ["migrate", { force: false, no_backup: false, skip: 10, dry_run: false }],
    ]);
    assert.equal(
      riskOf({ form: { kind: "reply", options: [] }, audience: INBOX, wire: {} }),
      "normal",
      "nobody can tell what follows from an answer",
    );
  });
});

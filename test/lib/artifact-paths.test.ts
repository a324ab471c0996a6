import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { sendRaw } from "../support/contract.ts";
import { answer, sharedRelay } from "../support/relay.ts";
import { ONE_DATABASE } from "../support/world.ts";

const LONGEST = `${"d".repeat(99)}/${"f".repeat(100)}`;

/** The paths that spec/relay 14 allows. */
const PATHS = [
  "a",
  "Z9",
  "out/report.md",
  "p/q/r/s/t/u/v/w",
  "a.tar.gz",
  "-",
  "_",
  "a-b_c.d",
  ".env",
  "...",
  "q/..b",
  "b../c",
  LONGEST,
];

/** The paths that spec/relay 14 refuses, by the rule that each breaks. */
const NO_PATHS: Record<string, string[]> = {
  "is empty": [""],
  "is too long": [`${LONGEST}f`, "x".repeat(201)],
  "has an empty segment": ["a//b", "a///b", "//", "a/b//c"],
  "begins with a slash": ["/", "/a", "//a", "/etc/passwd"],
  "ends with a slash": ["a/", "a//", "a/b/"],
  "leads up": ["..", "../a", "a/..", "a/../b", "a/b/../../../c"],
  "stays where it is": [".", "./a", "a/.", "a/./b"],
  "holds a backslash": ["a\\b", "\\a", "..\\a"],
  "holds another character": [
    "a b",
    "a\tb",
    "a\nb",
    "a\0b",
    "ä",
    "a:b",
    "a~",
    "a+b",
    "a?b",
    "a#b",
    "a%b",
    "%2e%2e/a",
    "a;b",
  ],
};
const BAD = Object.entries(NO_PATHS).flatMap(([why, paths]) => paths.map((path) => ({ why, path })));

/** The ways to write a path into an address: slashes as they are, and everything escaped. */
const SPELLINGS: ((path: string) => string)[] = [
  (path) => encodeURIComponent(path).replaceAll("%2F", "/"),
  (path) => [...Buffer.from(path)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
];

interface Holding {
  id: string;
  lease: string;
}

for (const on of ONE_DATABASE) {
  describe(`the path of a job's file on ${on}`, () => {
    const scene = sharedRelay(on);

    /** Sends an address as it stands: a client of ours would put its path in order first. */
    async function send(method: "PUT" | "GET", { id, lease }: Holding, path: string, before = "") {
      const lines = [
        `${method} ${before}/jobs/${id}/artifacts/${path} HTTP/1.1`,
        "Host: 127.0.0.1",
        `Authorization: Bearer ${scene().ana.key}`,
        `Parley-Lease: ${lease}`,
        ...(method === "PUT" ? ["Content-Type: text/plain", "Content-Length: 1"] : []),
        "Connection: close",
      ];
      const reply = await sendRaw(scene().world.url, `${lines.join("\r\n")}\r\n\r\n${method === "PUT" ? "x" : ""}`);
      return { status: reply.status, body: reply.status === 200 ? reply.text : JSON.parse(reply.text) };
    }
    const folder = ({ id }: Holding) => join(scene().world.config.dataDir, "artifacts", id);

    it("is taken as it is written, in every spelling, by every rule it keeps", async () => {
      const held = await scene().claimed();
      for (const path of PATHS) {
        for (const spelling of SPELLINGS) {
          const { status, body } = await send("PUT", held, spelling(path));
          assert.deepEqual([path, status, body.path], [path, 201, path]);
          assert.deepEqual(await send("GET", held, spelling(path)), { status: 200, body: "x" });
        }
      }
    });

    it("is refused where it breaks one, whoever says it and however it is spelt", async () => {
      const held = await scene().claimed();
      for (const { why, path } of BAD) {
        for (const spelling of SPELLINGS) {
          const put = await send("PUT", held, spelling(path));
          const got = await send("GET", held, spelling(path));
          if (/^\/*$/.test(spelling(path))) {
            // A path of slashes only is not the address of a file.
            assert.deepEqual([put.status, got.status], [404, 404]);
            continue;
          }
          const error = {
            code: "VALIDATION_ERROR",
            message: "Request body is not valid",
            details: { field: "path", constraint: "format" },
          };
          assert.deepEqual([why, path, put], [why, path, { status: 400, body: { error } }]);
          const missing = { code: "ARTIFACT_NOT_FOUND", message: "No such artifact" };
          assert.deepEqual([why, path, got], [why, path, { status: 404, body: { error: missing } }]);
        }
        const finish = await scene().ana.post(
          `/jobs/${held.id}/finish`,
          { state: "SUCCEEDED", artifacts: [path] },
          held.lease,
        );
        assert.deepEqual([why, path, finish.status], [why, path, 400]);
        assert.deepEqual(finish.body.error.details, { field: "artifacts", constraint: "format" });
      }
      assert.equal(existsSync(folder(held)), false);
      assert.deepEqual(readdirSync(join(folder(held), "..", ".incoming")), []);
    });

    it("begins after one slash, however many stand elsewhere in the address", async () => {
      const held = await scene().claimed();
      const { id, lease } = held;
      assert.equal((await send("PUT", held, "a/b", "/")).status, 201);
      assert.equal((await send("PUT", { lease, id: `/${id}/` }, "a/c", "//")).status, 201);
      assert.deepEqual(await send("GET", { lease, id: `//${id}` }, "a/c"), { status: 200, body: "x" });
      assert.equal((await send("GET", { lease, id: `//${id}` }, "a//c")).status, 404);
      assert.deepEqual(await send("GET", held, "a/c?as=it//is#there//"), { status: 200, body: "x" });
      assert.deepEqual(readdirSync(join(folder(held), "1", "a")).sort(), ["b", "c"]);
    });

    it("is no answer's either where it breaks one", async () => {
      const { ask, person, withPeople } = scene();
      const { by } = await person();
      const one = await ask();
      await withPeople(one);
      for (const { why, path } of BAD) {
        const reply = await answer(by, one, { answer_text: "EUR", artifacts: ["a", path] });
        assert.deepEqual([why, path, reply.status], [why, path, 422]);
        assert.match(reply.text, /artifacts\/1.*must be a relative path/);
      }
      const good = await answer(by, one, { answer_text: "EUR", artifacts: PATHS });
      assert.deepEqual([good.status, good.body.artifacts], [202, PATHS]);
    });
  });
}

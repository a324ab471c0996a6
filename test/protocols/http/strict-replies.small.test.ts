import "../../support/strict-replies.ts";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import Fastify from "fastify";
import { z } from "zod";
import { COMPILERS } from "../../../src/protocols/http/compilers.ts";

const Reply = z.object({ n: z.int(), more: z.object({ word: z.string().optional() }).optional() });

describe("the check of replies in tests", () => {
  async function statusOf(body: object): Promise<number> {
    const app = Fastify({ schemaController: COMPILERS });
    const schema = {
      response: { 200: { description: "As asked", content: { "application/json": { schema: Reply } } } },
    };
    app.get("/", { schema }, async () => body);
    const { statusCode } = await app.inject("/");
    return statusCode;
  }

  it("lets a reply through that is as its route declares it", async () => {
    assert.equal(await statusOf({ n: 1 }), 200);
    assert.equal(await statusOf({ n: 1, more: { word: "yes" } }), 200);
  });

  it("fails one that lacks a member, has another type, or has a member that is not declared, at any depth", async (t) => {
    t.mock.method(console, "error", () => undefined);
    for (const body of [{}, { n: "1" }, { n: 1, extra: 1 }, { n: 1, more: { other: 1 } }]) {
      assert.equal(await statusOf(body), 500, JSON.stringify(body));
    }
  });
});

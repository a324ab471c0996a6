import assert from "node:assert/strict";
import { it } from "node:test";
import { jobTitle } from "../../src/asks/model/job-title.ts";

it("a job is called by the words of its specification, or by its kind with what it is about", () => {
  const title = (kind: string, spec: unknown) => jobTitle({ id: "job_1", kind, spec });
  assert.equal(title("release", { service: "shop-api", title: "Ship the shop\nNow" }), "Ship the shop");
  assert.equal(title("aa/shop", { repo: "shop", task: "readme", slug: "x", attempt: 1 }), "Task readme in shop");
  assert.equal(
    title("nightly-build", { service: "shop-api", n: 1, env: "dev", more: "z" }),
    "Nightly build: shop-api, dev",
  );
  for (const spec of [null, {}, [1], "x", { n: 1 }]) assert.equal(title("release", spec), "Release job_1");
  assert.equal(title("release", { name: "a\u200bb" }), "a\\u200bb");
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { modelHosts } from "../../src/workshop/sandbox/model-hosts.ts";

describe("where the model of an agent may be", () => {
  const other = { type: "acp", flavour: "other" } as const;
  const named = (url: string) => modelHosts(other, { SOME_BASE_URL: url, OTHER: "https://elsewhere.example" });

  it("is what its environment names, by the port that the address has", () => {
    assert.deepEqual(named("https://models.example/v1"), ["models.example"]);
    assert.deepEqual(named("https://models.example:8443"), ["models.example:8443"]);
    assert.deepEqual(named("http://models.example/v1"), ["models.example:80"]);
    assert.deepEqual(named("http://127.0.0.1:4000"), ["127.0.0.1:4000"]);
    assert.deepEqual(named("not an address"), []);
  });

  it("is with its provider too", () => {
    assert.deepEqual(modelHosts({ type: "claude", flavour: "other" }, {}), ["api.anthropic.com"]);
  });
});

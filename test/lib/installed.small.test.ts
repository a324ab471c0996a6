import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkInstalled } from "../../src/lib/installed.ts";

describe("optional packages", () => {
  it("are there where nothing was left out, and where they are not, one sentence says what to run", () => {
    checkInstalled("Slack is configured", ["@slack/web-api", "@slack/socket-mode"]);
    checkInstalled("A model is configured", [
      "ai",
      ...["anthropic", "google", "openai", "openai-compatible"].map((provider) => `@ai-sdk/${provider}`),
    ]);
    assert.throws(() => checkInstalled("Slack is configured", ["@slack/web-api", "@slack/left-out"]), {
      message:
        "Slack is configured, but @slack/left-out is not installed; " +
        "run npm install with Node 22 or newer, and without --omit=optional.",
    });
  });
});

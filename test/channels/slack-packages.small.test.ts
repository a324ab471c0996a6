import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkInstalled } from "../../src/channels/slack/web.ts";

describe("Slack's libraries", () => {
  it("are there where nothing was left out, and where they are not, one sentence says what to run", () => {
    checkInstalled();
    assert.throws(() => checkInstalled(["@slack/left-out"]), {
      message: "Slack is configured, but @slack/left-out is not installed; run npm install without --omit=optional.",
    });
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parley } from "../support/program.ts";

interface Manifest {
  oauth_config: { scopes: { bot: string[] } };
  settings: {
    socket_mode_enabled: boolean;
    event_subscriptions: { request_url?: string; bot_events: string[] };
    interactivity: { is_enabled: boolean; request_url?: string };
  };
}

describe("parley slack manifest", () => {
  it("prints an app for Socket Mode, with what it may do and nothing more", async () => {
    const { code, out, err } = await parley(["slack", "manifest"]);
    const { oauth_config: oauth, settings } = JSON.parse(out) as Manifest;
    assert.equal(code, 0);
    assert.match(err, /slack\.app_token \(xapp-/);
    assert.equal(
      oauth.scopes.bot.join(" "),
      "app_mentions:read channels:history channels:read chat:write groups:history im:history im:read im:write users:read",
    );
    assert.deepEqual(settings.event_subscriptions, {
      bot_events: ["app_mention", "message.channels", "message.groups", "message.im"],
    });
    assert.deepEqual([settings.socket_mode_enabled, settings.interactivity], [true, { is_enabled: true }]);
  });

  it("prints an app that calls this server where an address is given", async () => {
    const { out, err } = await parley(["slack", "manifest", "--url", "https://parley.example.com/", "--name", "Desk"]);
    const { settings } = JSON.parse(out) as Manifest;
    assert.match(err, /slack\.signing_secret/);
    assert.match(out, /"name": "Desk"/);
    assert.equal(settings.socket_mode_enabled, false);
    assert.equal(settings.event_subscriptions.request_url, "https://parley.example.com/hooks/slack/events");
    assert.equal(settings.interactivity.request_url, "https://parley.example.com/hooks/slack/interactions");
  });

  it("refuses an address that Slack would not call", async () => {
    for (const url of ["http://parley.example.com", "https://parley.example.com/path", "parley"]) {
      const { code, out, err } = await parley(["slack", "manifest", "--url", url]);
      assert.deepEqual([code, out], [2, ""]);
      assert.match(err, /--url must be an https address without a path/);
    }
  });
});

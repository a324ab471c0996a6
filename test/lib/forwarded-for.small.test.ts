import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { plainForwardedFor } from "../../src/lib/network/forwarded-for.ts";

describe("addresses that a proxy writes down", () => {
  for (const [written, read] of [
    ["203.0.113.7", "203.0.113.7"],
    ["203.0.113.7:20001", "203.0.113.7"],
    ["[2001:db8:1::7]:20001", "2001:db8:1::7"],
    ["[2001:db8:1::7]", "2001:db8:1::7"],
    ["2001:DB8:1:0:0::7", "2001:db8:1::7"],
    ["fe80::1%eth0", "fe80::1"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["203.0.113.7:20001,10.0.0.1:443 , 10.0.0.2", "203.0.113.7, 10.0.0.1, 10.0.0.2"],
  ] as const) {
    it(`are read without their ports and in one spelling: ${written}`, () =>
      assert.equal(plainForwardedFor(written), read));
  }

  for (const written of [
    "unknown",
    "_hidden",
    "",
    "203.0.113.7:",
    "203.0.113.7:port",
    "203.0.113",
    "[::1",
    "for=1.2.3.4",
  ])
    it(`are none, and count as the proxy's own, where they are no address: ${written}`, () => {
      assert.equal(plainForwardedFor(written), "");
      assert.equal(plainForwardedFor(`203.0.113.7, ${written}, 10.0.0.1`), "10.0.0.1");
    });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { networkOf } from "../../src/lib/network/network.ts";
import { isOwnName } from "../../src/lib/network/reach.ts";

describe("the names of this computer", () => {
  it("are localhost and addresses of loopback, however a URL writes them", () => {
    const own = [
      "localhost",
      "localhost.",
      "LOCALHOST",
      "app.localhost",
      "app.localhost.",
      "127.0.0.1",
      "127.9.9.9",
      "[::1]",
    ];
    const mapped = ["::ffff:127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]"];
    const written = ["http://127.1", "http://2130706433", "http://0x7f.1", "http://[::FFFF:127.0.0.1]"];
    for (const name of [...own, ...mapped, ...written.map((url) => new URL(url).hostname)])
      assert.ok(isOwnName(name), name);
  });

  it("are no others, also where they hold one of these", () => {
    const others = [
      "example.com",
      "localhost.example.com",
      "notlocalhost",
      "127.0.0.1.example.com",
      "localhost..",
      ".",
    ];
    const addresses = [
      "10.0.0.1",
      "[::ffff:10.0.0.1]",
      "[::ffff:a00:1]",
      "[::7f00:1]",
      "[1::ffff:7f00:1]",
      "[::2]",
      "",
    ];
    for (const name of [...others, ...addresses]) assert.ok(!isOwnName(name), name);
  });

  it("count as IPv4 where they are mapped into IPv6", () => {
    for (const address of ["192.0.2.7", "::ffff:192.0.2.7", "::ffff:c000:207"])
      assert.equal(networkOf(address), "192.0.2.0/24");
    assert.equal(networkOf("2001:db8:1:2::3"), "2001:db8:1::/48");
  });
});

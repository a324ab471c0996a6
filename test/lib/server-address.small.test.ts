import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addressFault } from "../../src/lib/network/server-address.ts";

describe("the address of a server", () => {
  it("is one of http or https, with or without a port and a path", () => {
    for (const address of [
      "http://127.0.0.1:3415",
      "https://ask.example.com",
      "https://example.com/parley",
      "http://[::1]:65535",
      "HTTP://box",
    ])
      assert.equal(addressFault(address), null, address);
  });

  for (const [says, addresses] of [
    [/name or a password/, ["http://ana:secret@box", "https://secret@box:1/parley", "http://:secret@box"]],
    [/query or a fragment/, ["http://box?secret", "http://box/parley#secret", "http://box?", "http://box/#"]],
    [/port above 65535/, ["http://box:99999", "https://[::1]:65536/secret", "http://ana:secret@box:70000"]],
    [/space or a line break/, ["http://box\n", " http://box", "http://box/secret path", "http://b\tox"]],
    [/begins with http/, ["ftp://box", "box:3415", "secret", "", "http://", "file:///secret"]],
    [/key in its path/, ["http://box/k/parley_agent_secret", "https://box/parley/k/secret/"]],
  ] as const) {
    it(`is refused by its fault, without a word of it: ${says.source}`, () => {
      for (const address of addresses) {
        assert.match(addressFault(address) ?? "", says, address);
        assert.doesNotMatch(addressFault(address) ?? "", /secret/);
      }
    });
  }
});

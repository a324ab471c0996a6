import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openHosts } from "../../src/core/store/postgres/hosts.ts";
import { hostAddresses, postgresPlace } from "../../src/lib/network/postgres-hosts.ts";
import { heldClock } from "../support/held-clock.ts";

const URL = "postgres://ana:a,b@db-1,[::1]:5433/parley?sslmode=verify-full";
const [FIRST = "", SECOND = ""] = hostAddresses(URL);

describe("an address of PostgreSQL", () => {
  it("is one for each of its hosts, and a comma of the password is none between hosts", () => {
    assert.deepEqual(hostAddresses(URL), [
      "postgres://ana:a,b@db-1/parley?sslmode=verify-full",
      "postgres://ana:a,b@[::1]:5433/parley?sslmode=verify-full",
    ]);
    assert.deepEqual(hostAddresses("postgres://ana:a,b@db/x,y"), ["postgres://ana:a,b@db/x,y"]);
    assert.deepEqual(hostAddresses("postgresql://ana@/x?host=/run"), ["postgresql://ana@/x?host=/run"]);
  });

  it("is shown without user and password", () => {
    assert.equal(postgresPlace(URL), "db-1,[::1]:5433/parley");
    assert.equal(postgresPlace("postgres://ana:x@/parley"), "localhost/parley");
    assert.equal(postgresPlace("no address"), "the configured address");
  });
});

describe("the hosts of an address", () => {
  it("are gone to in turn, and the one that failed is left once, however many connections report it", () => {
    const hosts = openHosts(URL, heldClock());
    assert.equal(hosts.current(), FIRST);
    hosts.passOver(FIRST);
    hosts.passOver(FIRST);
    assert.equal(hosts.current(), SECOND);
    hosts.passOver(SECOND);
    assert.equal(hosts.current(), FIRST);
  });

  it("tell when the primary has moved, and not when it came back", () => {
    const hosts = openHosts(URL, heldClock());
    const moves: string[] = [];
    hosts.onMove((address) => moves.push(address));
    for (const address of [FIRST, FIRST, SECOND, SECOND]) hosts.accept(address, 1, 0);
    assert.deepEqual(moves, [SECOND]);
  });

  it("accept no primary whose clock is behind the last moment of the former one, until it has caught up", () => {
    const clock = heldClock();
    const hosts = openHosts(URL, clock);
    hosts.accept(FIRST, 50_000, clock.monotonic());
    clock.advance(3000);
    hosts.passOver(FIRST);
    clock.advance(2000);
    hosts.passOver(FIRST);
    const behind = /^Error: the clock of the new primary is 1 ms behind that of the former one/;
    assert.throws(() => hosts.accept(SECOND, 52_999, clock.monotonic()), behind);
    hosts.accept(SECOND, 53_000, clock.monotonic());
  });

  it("ask nothing of the clock of a primary that never failed", () => {
    const clock = heldClock();
    const hosts = openHosts(URL, clock);
    hosts.accept(FIRST, 50_000, clock.monotonic());
    hosts.accept(FIRST, 40_000, clock.monotonic());
  });
});

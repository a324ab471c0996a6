import assert from "node:assert/strict";
import { it } from "node:test";

const put = (name: string, value: unknown) =>
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

/** Fires when the caller had the time to listen. */
function soon<T extends EventTarget>(target: T, event: string): T {
  queueMicrotask(() => target.dispatchEvent(new Event(event)));
  return target;
}

/** A connection to a database of one store, which takes nothing any more once it was closed. */
class Connection extends EventTarget {
  #isOpen = true;
  readonly #kept: Map<string, unknown>;
  constructor(kept: Map<string, unknown>) {
    super();
    this.#kept = kept;
  }
  close(): void {
    this.#isOpen = false;
    this.dispatchEvent(new Event("close"));
  }
  transaction(): unknown {
    if (!this.#isOpen) throw new DOMException("closed", "InvalidStateError");
    const objectStore = () => ({
      put: (value: unknown, name: string) => this.#kept.set(name, value),
      get: (name: string) => soon(Object.assign(new EventTarget(), { result: this.#kept.get(name) }), "success"),
    });
    return Object.assign(soon(new EventTarget(), "complete"), { objectStore });
  }
}

it("keeps what is written in the database, also after the browser has closed it", async () => {
  const kept = new Map<string, unknown>();
  const connections: Connection[] = [];
  put("indexedDB", {
    open() {
      connections.push(new Connection(kept));
      return soon(Object.assign(new EventTarget(), { result: connections.at(-1) }), "success");
    },
  });
  put("BroadcastChannel", EventTarget);
  const { keepSetting, keptSetting } = await import("../../web/src/outbox.ts");
  await keepSetting("person", "p_1");
  connections[0]?.close();
  await keepSetting("person", "p_2");
  assert.equal(kept.get("person"), "p_2");
  assert.equal(await keptSetting("person"), "p_2");
});

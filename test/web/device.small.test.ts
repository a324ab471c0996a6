import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";

type Device = typeof import("../../web/src/device.ts");
type Drafts = typeof import("../../web/src/drafts.ts");

/** A browser's storage, which may have no room for more. */
class Shelf {
  [name: string]: unknown;
  getItem(name: string): string | null {
    return Object.hasOwn(this, name) ? String(this[name]) : null;
  }
  setItem(name: string, value: string): void {
    if (isFull) throw new DOMException("no room", "QuotaExceededError");
    this[name] = value;
  }
  removeItem(name: string): void {
    delete this[name];
  }
}
let isFull = false;

describe("what a browser remembers when its storage is full", () => {
  let device: Device;
  let drafts: Drafts;
  const known = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  before(async () => {
    Object.defineProperty(globalThis, "localStorage", { value: new Shelf(), configurable: true });
    [device, drafts] = [await import("../../web/src/device.ts"), await import("../../web/src/drafts.ts")];
  });
  beforeEach(() => (isFull = false));
  after(() => {
    if (known) Object.defineProperty(globalThis, "localStorage", known);
    else Reflect.deleteProperty(globalThis, "localStorage");
  });

  it("is the answer as it was chosen last", () => {
    drafts.keepDraft("q_1", { selected_option: 0 });
    isFull = true;
    drafts.keepDraft("q_1", { selected_option: 1 });
    assert.deepEqual(drafts.readDraft("q_1"), { selected_option: 1 });
    isFull = false;
    drafts.keepDraft("q_1", { selected_option: 2 });
    assert.deepEqual(drafts.readDraft("q_1"), { selected_option: 2 });
  });

  it("is counted once, and forgotten with the rest", () => {
    device.remember("draft.q_2", "kept");
    isFull = true;
    device.remember("draft.q_2", "changed");
    device.remember("draft.q_3", "new");
    const others = device.count("draft.q_1");
    assert.equal(device.count("draft."), 2 + others);
    device.forget("draft.");
    assert.deepEqual([device.count("draft."), device.recall("draft.q_2"), device.recall("draft.q_3")], [0, null, null]);
  });
});

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { text } from "./aside-text.ts";
import { LONGEST_SOUGHT, useChosen } from "./chosen.ts";
import { SEARCH, toFocus } from "./search-field.ts";
import type { Order } from "./wire.ts";

const SEARCH_AFTER_MS = 250;
const ORDERS: readonly Order[] = ["deadline", "asked", "risk"];

/** The words that are searched for, and the order of what waits. */
export function Tools() {
  const { tab, order, choose } = useChosen();
  return (
    <>
      <Search key={tab} />
      {tab === "open" && (
        <select
          aria-label={text.order}
          value={order}
          onChange={({ currentTarget: { value } }) => choose({ order: value === "deadline" ? "" : value })}
        >
          {ORDERS.map((one) => (
            <option key={one} value={one}>
              {text.orders[one]}
            </option>
          ))}
        </select>
      )}
    </>
  );
}

/** Looks through the list once nobody writes for a moment. */
function Search() {
  const { tab, words, choose } = useChosen();
  const [written, write] = useState(words);
  // Back changes the words too.
  useEffect(() => write((now) => (now.trim() === words ? now : words)), [words]);
  useEffect(() => {
    const to = written.trim();
    if (to === words) return;
    // One search is one step of the history, however it was written.
    const timer = setTimeout(() => choose({ q: to }, { replace: words !== "" }), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [written]);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (toFocus.search) field.current?.focus();
    toFocus.search = false;
  }, []);
  return (
    <input
      ref={field}
      id={SEARCH}
      type="search"
      aria-label={tab === "open" ? text.search : text.searchOver}
      placeholder={tab === "open" ? text.search : text.searchOverHint}
      maxLength={LONGEST_SOUGHT}
      value={written}
      onInput={({ currentTarget }) => write(currentTarget.value)}
    />
  );
}

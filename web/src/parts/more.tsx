import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { text } from "../text.ts";
import styles from "./more.module.css";

/**
 * The button below a list that goes on, or above one whose beginning is missing. A press moves the focus to the first
 * of the rows it brings, as with the list's other rows; where no row could be read it says so.
 *
 * @param props.rows how many rows of the list are shown; they are the first `li` of what holds this button
 */
export function More(props: {
  label: string;
  rows: number;
  isMore: boolean;
  readOn: () => Promise<unknown>;
  isAbove?: boolean;
}) {
  const { label, rows, isMore, readOn, isAbove = false } = props;
  const [state, setState] = useState<"still" | "reading" | "failed">("still");
  const place = useRef<HTMLDivElement>(null);
  const rowsBefore = useRef<number | null>(null);
  useLayoutEffect(() => {
    const before = rowsBefore.current;
    if (before === null || rows <= before) return;
    rowsBefore.current = null;
    const here = document.activeElement;
    if (here !== document.body && !place.current?.contains(here)) return;
    const row = place.current?.parentElement?.querySelectorAll("li")[isAbove ? 0 : before];
    if (row) row.tabIndex = -1;
    (row?.querySelector<HTMLElement>("a, button, summary") ?? row)?.focus({ preventScroll: !isAbove });
  }, [rows]);

  const press = async (): Promise<void> => {
    if (state === "reading") return;
    rowsBefore.current = rows;
    setState("reading");
    setState(
      await readOn().then(
        () => "still" as const,
        () => "failed" as const,
      ),
    );
  };
  return (
    <div ref={place}>
      {isMore && (
        <button type="button" class={styles.more} aria-disabled={state === "reading"} onClick={() => void press()}>
          {label}
        </button>
      )}
      {state === "failed" && <p role="alert">{text.moreFailed}</p>}
    </div>
  );
}

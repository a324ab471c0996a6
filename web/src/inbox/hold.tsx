import type { Ref } from "preact";
import { useEffect, useState } from "preact/hooks";
import styles from "./hold.module.css";
import { hasKeyboard } from "../keys.ts";
import { announce } from "../parts/announcer.tsx";
import type { Deliberate } from "../parts/deliberate.ts";
import { text } from "./text.ts";

/** As long as a press lasts that decides something grave. */
const HOLD_MS = 1000;
const PRESSES = ["Enter", " "];

/**
 * A button that does something once it was held for a second and let go, by pointer or by key. A press that is shorter,
 * that leaves the button, or that began too early to be deliberate only shows a hint.
 */
export function HoldButton(props: {
  label: string;
  deliberate: Deliberate;
  describedBy: string;
  element: Ref<HTMLButtonElement>;
  onHeld: () => void;
}) {
  const { label, deliberate, onHeld } = props;
  const [press, setPress] = useState<"none" | "begun" | "held">("none");
  useEffect(() => {
    if (press !== "begun") return;
    const timer = setTimeout(() => {
      setPress("held");
      announce(text.letGo);
    }, HOLD_MS);
    return () => clearTimeout(timer);
  }, [press]);

  const begin = (): void => setPress(deliberate.settled ? "begun" : "none");
  const leave = (): void => setPress("none");
  const end = (): void => {
    leave();
    if (press === "held" && deliberate.isDeliberate()) return onHeld();
    if (press !== "none") announce(text.holdHint);
  };
  return (
    <button
      ref={props.element}
      type="button"
      class={styles.hold}
      data-press={press}
      autofocus={hasKeyboard}
      aria-disabled={!deliberate.settled}
      aria-describedby={props.describedBy}
      onPointerDown={({ button, target, pointerId }) => {
        // A finger is captured by what it touches, and would never leave it.
        if (target instanceof Element) target.releasePointerCapture(pointerId);
        if (button === 0) begin();
      }}
      onPointerUp={end}
      onPointerLeave={leave}
      onPointerCancel={leave}
      onBlur={leave}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (!PRESSES.includes(event.key)) return;
        event.preventDefault();
        if (!event.repeat) begin();
      }}
      onKeyUp={({ key }) => PRESSES.includes(key) && end()}
    >
      <span>{press === "held" ? text.letGo : label}</span>
    </button>
  );
}

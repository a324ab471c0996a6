import { useEffect, useRef, useState } from "preact/hooks";

/** A press sooner than this after something appeared was for what was there before, in ms. */
const SHOWN_MS = 500;

export interface Deliberate {
  /** The buttons have been on screen long enough for a deliberate press. */
  settled: boolean;
  /** For an element around the buttons that decide: notes presses that began too early, whenever they end. */
  onPointerDown: () => void;
  /** True when a press or a key that arrives now is deliberate; asked once for each. */
  isDeliberate: () => boolean;
}

/**
 * Keeps a second tap, or a press that began before `shown` was on screen, from deciding. A change of the identity of
 * `shown` counts as something new.
 */
export function useDeliberate(shown: unknown): Deliberate {
  const [known, setKnown] = useState<{ shown: unknown } | null>(null);
  const beganEarly = useRef(false);
  useEffect(() => {
    const timer = setTimeout(() => setKnown({ shown }), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  const settled = known !== null && known.shown === shown;
  return {
    settled,
    onPointerDown: () => {
      beganEarly.current = !settled;
    },
    isDeliberate: () => {
      const counts = settled && !beganEarly.current;
      beganEarly.current = false;
      return counts;
    },
  };
}

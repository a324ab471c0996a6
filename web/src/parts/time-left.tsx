import { useEffect, useState } from "preact/hooks";
import { serverNow } from "../api.ts";
import { text } from "../text.ts";

/** The server's time, as often as somebody watching a deadline would notice. */
export function useServerNow(until: number): number {
  const [now, setNow] = useState(serverNow);
  const left = until - now;
  useEffect(() => {
    if (left < -1000) return;
    const timer = setTimeout(() => setNow(serverNow()), left < 120_000 ? 1000 - (serverNow() % 1000) : 15_000);
    return () => clearTimeout(timer);
  }, [now, left]);
  return now;
}

/** Calls `onTimeUp` when a deadline has come by the server's time. */
export function useTimeUp(until: number, onTimeUp: () => void): void {
  const isUp = useServerNow(until) >= until;
  useEffect(() => {
    if (isUp) onTimeUp();
  }, [isUp]);
}

/** Counts down to a deadline. */
export function TimeLeft({ until }: { until: string }) {
  const left = Date.parse(until) - useServerNow(Date.parse(until));
  return (
    <time dateTime={until} class="time-left">
      {text.feed.left(left)}
    </time>
  );
}

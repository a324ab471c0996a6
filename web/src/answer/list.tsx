import { Feed } from "./feed.tsx";
import { later } from "../parts/later.tsx";
import { useWritten } from "../queries.ts";

const Unsent = later(async () => (await import("./unsent-list.tsx")).Unsent);

/** The list of questions, and above it the answers of this device that the server does not have. */
export function List({ current, onOpen }: { current?: string | undefined; onOpen?: (() => void) | undefined }) {
  const isAnyUnsent = useWritten().some(({ state }) => state !== "sent");
  return (
    <>
      {isAnyUnsent && <Unsent onOpen={onOpen} />}
      <Feed current={current} onOpen={onOpen} />
    </>
  );
}

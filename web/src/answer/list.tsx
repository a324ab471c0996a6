import { Feed } from "./feed.tsx";
import { Unsent } from "./unsent-list.tsx";

/** The list of questions, and above it the answers of this device that the server does not have. */
export function List({ current, onOpen }: { current?: string | undefined; onOpen?: (() => void) | undefined }) {
  return (
    <>
      <Unsent onOpen={onOpen} />
      <Feed current={current} onOpen={onOpen} />
    </>
  );
}

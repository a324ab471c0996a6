import { watchedFetch } from "./api.ts";

const LONGEST_MS = 30_000;
let wait = 0;
let last = 0;

/** Calls `then` once the server answers, which is asked less and less often. Returns how to stop it. */
export function whenBack(then: () => void): () => void {
  let stop = false;
  const later = (): void => {
    // Trouble that comes again at once is met with the same patience, trouble of another time with a new one.
    wait = Date.now() - last > 2 * LONGEST_MS ? 1000 : Math.min(wait * 2, LONGEST_MS);
    last = Date.now();
    setTimeout(async () => {
      const isBack =
        !stop &&
        (await watchedFetch("/healthz").then(
          ({ ok }) => ok,
          () => false,
        ));
      if (!stop) (isBack ? then : later)();
    }, wait);
  };
  later();
  return () => (stop = true);
}

/**
 * Loaded before the server by `node --import`: ends the process the hard way at one line that the source marks with
 * `// point: <name>`, and goes by the clocks it is given (`clock-told.ts`).
 *
 * The comment is replaced while Node loads the source, so that the product carries nothing but a comment, and a process
 * without a point is the shipped one.
 */
import { registerHooks } from "node:module";
import "./clock-told.ts";

const { PROOF_POINT: point, PROOF_POINT_HIT: hit = "1" } = process.env;

if (point !== undefined) {
  let hits = 0;
  Object.assign(globalThis, {
    dieAtPoint() {
      hits += 1;
      // The signal is there before the call returns: not one more instruction runs.
      if (hits === Number(hit)) process.kill(process.pid, "SIGKILL");
    },
  });
  const comment = new RegExp(`// point: ${point}$`, "m");
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.includes("/src/") || loaded.source === undefined || loaded.source === null) return loaded;
      const source = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
      return comment.test(source) ? { ...loaded, source: source.replace(comment, "dieAtPoint();") } : loaded;
    },
  });
}

import { runSeed } from "./sim-run.ts";

// One process a core: it plays the seeds it is sent, and ends with its parent.
process.on("message", (seed: number) => {
  // Whether the parent still wants to know is the parent's affair.
  void runSeed(seed).then((result) => process.send?.(result, () => {}));
});

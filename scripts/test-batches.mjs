/** Decides which test files run together in one process, and in which order the processes begin. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SIZES, sizeOf } from "./test-size.mjs";

/** A file that ends its process takes fewer others with it, the fewer there are. */
const FILES_OF_A_BATCH = 16;
/** Long enough to share what is loaded, short enough that no core is idle while the last one runs. */
const SECONDS_OF_A_BATCH = 30;
/** About what a file takes that nobody has measured. */
const USUAL_SECONDS = { small: 1, medium: 2, large: 6 };
const BATCH = new URL("test-batch.mjs", import.meta.url).href;

/** These need a process of their own, for the reason beside them. */
const ALONE = new Map([
  ["test/clients/task-relay.large.test.ts", "the SDK reads its settings from the environment of its process"],
]);

/**
 * Divides files into lists, each for one process. The files of a process have one size, which the process is held to
 * (scripts/test-size.mjs). Neighbours stay together, because they load the same parts; the list that takes
 * longest begins first, so that no core is idle while the last one runs.
 */
export function toBatches(files, seconds) {
  const secondsOf = (file) => seconds[file] ?? USUAL_SECONDS[sizeOf(file)];
  const batches = [];
  let open = { files: [], seconds: 0, size: "" };
  const inOrder = SIZES.flatMap((size) => files.filter((file) => sizeOf(file) === size).toSorted());
  for (const file of inOrder) {
    const size = sizeOf(file);
    const own = secondsOf(file);
    if (ALONE.has(file)) {
      batches.push({ files: [file], seconds: own, size });
      continue;
    }
    const isFull = open.files.length === FILES_OF_A_BATCH || open.seconds + own > SECONDS_OF_A_BATCH;
    if (open.files.length === 0 || isFull || open.size !== size) batches.push((open = { files: [], seconds: 0, size }));
    open.files.push(file);
    open.seconds += own;
  }
  return batches.toSorted((one, other) => other.seconds - one.seconds).map((batch) => batch.files);
}

/**
 * Writes a module for each list into a folder, which runs its files; Node begins with the one that is first by name.
 * Returns the lists by the path of their module.
 */
export function writeBatches(batches, folder) {
  const entries = batches.map((files, index) => {
    const path = join(folder, `${String(index + 1).padStart(4, "0")}.mjs`);
    const size = JSON.stringify(sizeOf(files[0]));
    writeFileSync(
      path,
      `import { runTogether } from "${BATCH}";\nrunTogether(${size}, ${JSON.stringify(files, null, 1)});\n`,
    );
    return [path, files];
  });
  return Object.fromEntries(entries);
}

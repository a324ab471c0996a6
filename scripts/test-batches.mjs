/** Which test files run together in one process, and in which order the processes begin. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** More would save little, and a file that ends its process takes fewer others with it. */
const FILES_OF_A_BATCH = 16;
/** Long enough to share what is loaded, short enough that no core is idle while the last one runs. */
const SECONDS_OF_A_BATCH = 45;
/** About what a file takes that nobody has measured. */
const USUAL_SECONDS = 3;
const BATCH = new URL("test-batch.mjs", import.meta.url).href;

/** These need a process of their own, for the reason beside them. */
const ALONE = new Map([
  ["test/clients/task-relay.test.ts", "the SDK reads its settings from the environment of its process"],
]);

/**
 * Divides files into lists, each for one process. Neighbours stay together, because they load the same parts; what takes
 * longest begins first, so that no core is idle while the last one runs.
 */
export function toBatches(files, seconds) {
  const secondsOf = (file) => seconds[file] ?? USUAL_SECONDS;
  const batches = [];
  let open = { files: [], seconds: 0 };
  for (const file of files.toSorted()) {
    const own = secondsOf(file);
    if (ALONE.has(file)) {
      batches.push({ files: [file], seconds: own });
      continue;
    }
    const isFull = open.files.length === FILES_OF_A_BATCH || open.seconds + own > SECONDS_OF_A_BATCH;
    if (open.files.length === 0 || isFull) batches.push((open = { files: [], seconds: 0 }));
    open.files.push(file);
    open.seconds += own;
  }
  return batches.toSorted((one, other) => other.seconds - one.seconds).map((batch) => batch.files);
}

/**
 * Writes a module for each list, which runs its files; Node begins with what is first by name. Returns the lists by the
 * path of their module, and how to remove what was written.
 */
export function writeBatches(batches, folder) {
  const place = mkdtempSync(join(folder, "parley-batches-"));
  const entries = batches.map((files, index) => {
    const path = join(place, `${String(index + 1).padStart(4, "0")}.mjs`);
    writeFileSync(path, `import { runTogether } from "${BATCH}";\nrunTogether(${JSON.stringify(files, null, 1)});\n`);
    return [path, files];
  });
  return { byPath: Object.fromEntries(entries), remove: () => rmSync(place, { recursive: true, force: true }) };
}

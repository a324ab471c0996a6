import { openContainedFiles } from "../../lib/contained-files.ts";

const MOST_BYTES = 1_048_576;

/**
 * A file of an agent's home holds the text, mode 0600, in a folder of mode 0700. No link is followed on the way: the
 * home may hold what an earlier run of the agent has put there, and whoever writes may reach more than the agent.
 *
 * @throws {NoSuchPlace} where the agent has put something else in the way
 */
export async function writeHomeFile(homeOutside: string, path: string, text: string): Promise<void> {
  const files = openContainedFiles(homeOutside);
  const bytes = new TextEncoder().encode(text);
  const received = await files.receive(`${path.replaceAll("/", "-")}.new`, one(bytes), MOST_BYTES);
  await files.place(received, path.split("/"));
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

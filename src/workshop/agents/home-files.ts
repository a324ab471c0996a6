import { openContainedFiles } from "../../lib/files/contained-files.ts";

const MOST_BYTES = 1_048_576;

/**
 * Writes a file of an agent's home, mode 0600, in a folder of mode 0700. It follows no link on the way: an earlier run
 * of the agent may have put links there, and this process may reach more than the agent.
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

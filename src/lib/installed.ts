/**
 * Checks that optional packages are installed. npm leaves them out with `--omit=optional`, and without a word under a
 * Node that is older than they want.
 *
 * @param wanting what is configured and wants them, as the subject of a sentence: "Slack is configured"
 * @throws {Error} one sentence for the operator
 */
export function checkInstalled(wanting: string, packages: readonly string[]): void {
  for (const name of packages) {
    try {
      import.meta.resolve(name);
    } catch {
      throw notInstalled(wanting, name);
    }
  }
}

/** Returns the sentence for the operator about a package that is missing. */
export function notInstalled(wanting: string, name: string): Error {
  return new Error(
    `${wanting}, but ${name} is not installed; run npm install with Node 22 or newer, and without --omit=optional.`,
  );
}

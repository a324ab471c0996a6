/**
 * Holds packed packages against `publint` and `arethetypeswrong`, which is what readers of a registry do: ends with exit
 * code 1, and one line for each thing that is wrong, where they find any. Its arguments are tarballs; nothing is fetched.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";

for (const path of process.argv.slice(2)) {
  const tarball = new Uint8Array(readFileSync(path));
  const { messages } = await publint({ pack: { tarball: tarball.buffer } });
  const { problems = [] } = await checkPackage(createPackageFromTarballData(tarball));
  // That way of resolving is older than `exports`, and than every Node that runs these packages.
  const wrong = [...messages, ...problems.filter(({ resolutionKind }) => resolutionKind !== "node10")];
  for (const one of wrong) console.error(`${basename(path)}: ${JSON.stringify(one)}`);
  if (wrong.length > 0) process.exitCode = 1;
}

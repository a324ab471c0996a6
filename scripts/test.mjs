/**
 * Runs the tests of some sizes with a real PostgreSQL beside them: `--size=small,medium`.
 *
 * `npm test -- quorum --test-name-pattern=offline`: words choose the files whose path holds one of them, options go
 * to Node. With `--all` nothing that tests need may be missing but what comes from PyPI (test/support/parts.ts).
 *
 * A file that failed runs once more, alone, when all others are done. It is unsteady where it passes then; a few unsteady
 * files do not fail the run, but each is a defect, and is printed with both of its outputs.
 */
import { sayMissing } from "./bring-parts.mjs";
import { openTestEnvironment } from "./test-environment.mjs";
import { keepTimes, testFiles } from "./test-files.mjs";
import { addResults, beginResult } from "./test-results.mjs";
import { runTests } from "./test-run.mjs";
import { SIZES, sizeOf } from "./test-size.mjs";

/** More than so many unsteady files fail a run. */
const UNSTEADY_AT_MOST = 2;
/** A run with more failures has a cause that no second try would show. */
const REPEATED_AT_MOST = 8;
const SLOWEST_SHOWN = 10;
const COMMANDS = { "small,medium": "npm test", large: "npm run test:large", "small,medium,large": "npm run test:all" };

const args = process.argv.slice(2);
const sizes = (args.find((arg) => arg.startsWith("--size="))?.slice("--size=".length) ?? SIZES.join()).split(",");
const options = args.filter((arg) => arg.startsWith("-") && arg !== "--all" && !arg.startsWith("--size="));
const words = args.filter((arg) => !arg.startsWith("-"));
const files = testFiles(words, sizes);
if (files.length === 0) {
  console.error(noFile());
  process.exit(2);
}

const result = beginResult(
  [COMMANDS[sizes.join()] ?? "npm test", ...(words.length > 0 ? ["--", ...words] : [])].join(" "),
);
const needsParts = files.some((file) => sizeOf(file) === "large");
const { env, missing, stop } = await openTestEnvironment({ needsParts });
const insisted = missing.filter(({ part }) => part.isInsistedOn);
if (args.includes("--all") && insisted.length > 0) {
  console.error(`With --all nothing may be missing. ${sayMissing(insisted)}`);
  await stop();
  process.exit(2);
}

const first = await runTests(files, { env, options });
keepTimes(first.seconds);
const isBroken = first.counts === null || first.code >= 128;
const repeated = isBroken || first.failures.length === 0 ? null : await repeatFailed(first.failures);
await stop();
printSlowest(first.seconds);
if (missing.length > 0) console.log(sayMissing(missing));

const unsteady = repeated?.unsteady ?? [];
const failures = repeated?.failures ?? [];
const isPassed = repeated === null ? first.code === 0 : failures.length === 0 && unsteady.length <= UNSTEADY_AT_MOST;
printUnsteady();
printFailures();
addResults(
  result.end({
    passed: isPassed,
    files: files.length,
    counts: first.counts,
    failures: plain(failures),
    unsteady: plain(unsteady),
  }),
);
if (repeated !== null) {
  const { passed, failed, skipped } = first.counts;
  const own = isPassed ? 0 : failed;
  console.log(`${passed + failed - own} passed, ${own} failed, ${skipped} skipped`);
}
process.exitCode = isPassed ? 0 : first.code || 1;

/**
 * Runs each file that failed once more, alone, and returns which passed then and which failed again. The files of a
 * process that broke off count as one, since one of them did it.
 */
async function repeatFailed(failed) {
  const groups = Map.groupBy(failed, ({ files: own }) => own.join(" "));
  const all = [...groups].map(([file, own]) => ({ file, files: own[0].files, failures: own }));
  if (all.length > REPEATED_AT_MOST) {
    console.log(`\n${all.length} files failed, more than ${REPEATED_AT_MOST}: none runs once more.`);
    return { failures: all, unsteady: [] };
  }
  const outcome = { failures: [], unsteady: [] };
  for (const one of all) {
    const outputs = [];
    let passes = true;
    for (const file of one.files) {
      console.log(`\n── ${file} failed and runs once more, alone`);
      const { code, output } = await runTests([file], { env, options, keepsOutput: true });
      outputs.push(output);
      passes &&= code === 0;
      console.log(code === 0 ? "   it passed" : output);
    }
    outcome[passes ? "unsteady" : "failures"].push({ ...one, output: outputs.join("\n") });
  }
  return outcome;
}

function printUnsteady() {
  for (const { file, failures: own, output } of unsteady) {
    console.log(`\nUNSTEADY ${file}: it failed, and passed when it ran alone. Mend its cause before other work.`);
    for (const { names, text, again } of own) console.log(`  first: ${names.join(" > ")}\n${text}    ${again}`);
    console.log(`  then, alone:\n${output.replaceAll(/^/gm, "    ")}`);
    console.log(`  npm run test:steady -- ${file} --rounds 20`);
  }
  if (unsteady.length > UNSTEADY_AT_MOST) {
    console.log(`\n${unsteady.length} files are unsteady, and at most ${UNSTEADY_AT_MOST} may be.`);
  }
}

/** Each failed test once more, with the command that runs it alone. */
function printFailures() {
  const lines = failures.flatMap(({ file, failures: own }) =>
    own.map(({ names, again }) => `  ${file}: ${names.join(" > ") || "the file itself"}\n    ${again}`),
  );
  if (lines.length > 0) console.log(`\nTo run each failed test alone:\n\n${lines.join("\n")}\n`);
}

function printSlowest(seconds) {
  const slowest = Object.entries(seconds).sort(([, one], [, other]) => other - one);
  if (slowest.length <= 1) return;
  const lines = slowest.slice(0, SLOWEST_SHOWN).map(([file, s]) => `  ${s.toFixed(1).padStart(6)} s  ${file}`);
  console.log(`\nThe slowest files:\n${lines.join("\n")}`);
}

/** Returns the failures in the form of the result file. */
function plain(list) {
  return list.map(({ file, failures: own }) => ({
    file,
    tests: own.map(({ names, again }) => ({ name: names.join(" > "), again })),
  }));
}

function noFile() {
  const named = words.map((word) => `"${word}"`).join(" or ");
  const others = testFiles(words).length;
  const hint = others > 0 ? ` ${others} of another size have: npm run test:all -- ${words.join(" ")}` : "";
  return `No ${sizes.join(" or ")} test file has ${named} in its path.${hint}`;
}

/**
 * A reporter for programs: one line of JSON for each test that failed, `{ test, says }`. The report for people is
 * written
 * to the file `TEST_STEADY_OUTPUT` when a test failed and no earlier failure stands there.
 */
import { writeFileSync } from "node:fs";
import { spec as SpecReporter } from "node:test/reporters";

export default async function* report(source) {
  const printed = new SpecReporter();
  const path = [];
  let text = "";
  let hasFailed = false;
  for await (const { type, data } of source) {
    printed.write({ type, data });
    for (let part = printed.read(); part !== null; part = printed.read()) text += part;
    if (type === "test:start") path[data.nesting] = data.name;
    const error = type === "test:fail" ? data.details.error : undefined;
    if (!error || error.failureType === "subtestsFailed") continue;
    hasFailed = true;
    const says = String(error.cause?.message ?? error.cause ?? error.message).split("\n")[0];
    yield `${JSON.stringify({ test: [...path.slice(0, data.nesting), data.name].join(" > "), says })}\n`;
  }
  printed.end();
  for await (const part of printed) text += part;
  const output = process.env.TEST_STEADY_OUTPUT;
  if (hasFailed && output) writeFirst(output, text);
}

function writeFirst(path, text) {
  try {
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
}

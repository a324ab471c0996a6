#!/usr/bin/env bash
# Two packages of the Common Expression Language disagree on a member that is null, and both know a 30 February.
#
# Seen with @bufbuild/cel 0.6.1 and @marcbachmann/cel-js 8.0.0, Node 24.21: of a map that holds a member with the value
# null, has() and "in" say false in the first and true in the second, as the language defines. A rule that asks first
# whether a member is there passes over it. A text that names a day which the calendar lacks is a time in both, and is
# compared as a day of the next month; the language takes RFC 3339, which has no such day.
#
# Output seen:
#   bufbuild has(args.note): false
#   bufbuild "note" in args: false
#   bufbuild args.note == null: true
#   bufbuild timestamp(args.at) > timestamp("2026-03-01T00:00:00Z"): true
#   marcbachmann has(args.note): true
#   marcbachmann "note" in args: true
#   marcbachmann args.note == null: true
#   marcbachmann timestamp(args.at) > timestamp("2026-03-01T00:00:00Z"): true
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"type":"module","private":true}' > package.json
npm install --silent --no-audit --no-fund @bufbuild/cel@0.6.1 @marcbachmann/cel-js@8.0.0

cat > program.mjs <<'PROGRAM'
import { celEnv, CelScalar, parse, plan } from "@bufbuild/cel";
import { evaluate } from "@marcbachmann/cel-js";

const args = { note: null, at: "2026-02-30T00:00:00Z" };
const environment = celEnv({ variables: { args: CelScalar.DYN } });
const packages = {
  bufbuild: (text) => plan(environment, parse(text))({ args: new Map(Object.entries(args)) }),
  marcbachmann: (text) => evaluate(text, { args }),
};
for (const [name, ask] of Object.entries(packages)) {
  for (const text of [
    "has(args.note)",
    '"note" in args',
    "args.note == null",
    'timestamp(args.at) > timestamp("2026-03-01T00:00:00Z")',
  ]) {
    console.log(`${name} ${text}: ${ask(text)}`);
  }
}
PROGRAM

node program.mjs > seen
cat > wanted <<'WANTED'
bufbuild has(args.note): false
bufbuild "note" in args: false
bufbuild args.note == null: true
bufbuild timestamp(args.at) > timestamp("2026-03-01T00:00:00Z"): true
marcbachmann has(args.note): true
marcbachmann "note" in args: true
marcbachmann args.note == null: true
marcbachmann timestamp(args.at) > timestamp("2026-03-01T00:00:00Z"): true
WANTED
diff wanted seen && echo "As described."

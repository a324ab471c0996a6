#!/usr/bin/env bash
# unbash sees no program `touch` in `>&-touch ran`, nor in `echo 1<(touch ran)`; bash runs it in both.
#
# Seen with unbash 6.0.4, Node 24.21, bash 5.2.15. In bash `>&-` is one token that closes a descriptor, and a word may
# follow it without a blank; unbash takes that word for a file. A process substitution behind a digit is a plain word for
# unbash. It reports no error, so that a list of allowed or denied programs sees another program, or `echo` alone.
#
# Output seen:
#   >&-touch ran
#     unbash: programs ["ran"], redirections [">&-touch"], errors 0
#     bash: ran touch
#   echo 1<(touch ran)
#     unbash: programs ["echo"], redirections [], errors 0
#     bash: ran touch
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"type":"module","private":true}' > package.json
npm install --silent --no-audit --no-fund unbash@6.0.4

cat > program.mjs <<'PROGRAM'
import { forEachChild, parse } from "unbash";

const programs = [];
const redirections = [];
const script = parse(process.argv[2]);
const visit = (node) => {
  if (node.type === "Command" && node.name !== undefined) programs.push(node.name.value);
  if (node.type === "Redirect") redirections.push(node.operator + node.target.value);
  forEachChild(node, visit);
};
visit(script);
const errors = script.errors?.length ?? 0;
console.log(`  unbash: programs ${JSON.stringify(programs)}, redirections ${JSON.stringify(redirections)}, errors ${errors}`);
PROGRAM

for line in '>&-touch ran' 'echo 1<(touch ran)'; do
  echo "$line"
  rm -f ran
  node program.mjs "$line"
  bash -c "$line" > /dev/null
  for _ in $(seq 50); do [ -e ran ] || sleep 0.1; done
  if [ -e ran ]; then echo "  bash: ran touch"; else echo "  bash: did not run touch"; fi
done

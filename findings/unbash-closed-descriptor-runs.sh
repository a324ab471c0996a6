#!/usr/bin/env bash
# unbash takes the program behind `>&-` for a file: of `>&-touch ran`, bash runs `touch`, and the tree has no such command.
#
# Seen with unbash 6.0.4, Node 24.21, bash 5.2.15. In bash `>&-` is one token that closes a descriptor, and a word may
# follow it without a blank. unbash reports no error, so that a list of allowed or denied programs sees `ran` alone.
#
# Output seen:
#   unbash: programs ["ran"], redirections [">&-touch"], errors 0
#   bash: ran touch
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
console.log(`unbash: programs ${JSON.stringify(programs)}, redirections ${JSON.stringify(redirections)}, errors ${errors}`);
PROGRAM

line='>&-touch ran'
node program.mjs "$line"
bash -c "$line"
if [ -e ran ]; then echo "bash: ran touch"; else echo "bash: did not run touch"; fi

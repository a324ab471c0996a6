import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { systemFetch } from "../lib/fetch.ts";
import { BadJson } from "../lib/json-body.ts";
import { canonicalExact, parseExactJson, sha256Digest } from "../lib/exact-json.ts";
import { printable } from "../lib/printable.ts";
import { openReceipt, type Receipt } from "../lib/receipt.ts";
import { consentText } from "../model/consent.ts";
import { type Command, EXIT, type Io, onlyArgument, WrongUsage } from "./command.ts";

export const verify: Command = {
  usage: "RECEIPT --keys FILE|URL [--fn NAME --kwargs FILE]",
  does: "check an approval's receipt, and that it approves exactly this call",
  flags: {
    "--keys FILE|URL": "the server's /.well-known/jwks.json, from a file or an address",
    "--fn NAME": "the function that is about to run",
    "--kwargs FILE": "its arguments, a file of JSON; - for standard input",
    "--json": "print what the receipt says",
  },
  example:
    "parley verify receipt.jws --keys http://127.0.0.1:3415/.well-known/jwks.json --fn refund --kwargs args.json",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        keys: { type: "string" },
        fn: { type: "string" },
        kwargs: { type: "string" },
        json: { type: "boolean" },
      },
    });
    const path = onlyArgument(positionals, "RECEIPT");
    if (!values.keys) throw new WrongUsage("--keys is missing: without the server's keys nothing is checked");
    if ((values.fn === undefined) !== (values.kwargs === undefined))
      throw new WrongUsage("--fn and --kwargs go together");
    const receipt = await openReceipt(await textOf(path), await keysFrom(values.keys));
    if (!receipt)
      return refuse(io, "The signature does not match: this is no receipt of that server, or it was changed.");
    if (values.json) io.out(JSON.stringify(receipt));
    if (receipt.outcome !== "approved")
      return refuse(io, `This was not approved: it is ${printable(receipt.outcome)}.`);
    if (values.fn !== undefined && values.kwargs !== undefined) {
      const kwargs = canonicalExact(parseArguments(await textOf(values.kwargs)));
      if (sha256Digest(consentText(values.fn, kwargs)) !== receipt.consent_digest) {
        return refuse(io, "What was approved is not what would run: the digests differ.");
      }
    }
    if (!values.json) io.out(approvedLine(receipt));
    return EXIT.done;
  },
};

function approvedLine({ decided, settled_at, consent_digest }: Receipt): string {
  const who = decided.map(({ kind, id, via }) => `${kind} ${id} via ${via}`).join(", ");
  return printable(`approved at ${new Date(settled_at).toISOString()} by ${who}; ${consent_digest}`);
}

function refuse(io: Io, says: string): number {
  io.tell(says);
  return EXIT.refused;
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path === "-" ? "/dev/stdin" : path, "utf8");
  } catch (error) {
    throw new WrongUsage(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function keysFrom(where: string): Promise<Parameters<typeof openReceipt>[1]> {
  const text = /^https?:\/\//.test(where) ? await (await systemFetch(where)).text() : await textOf(where);
  try {
    const keys = JSON.parse(text) as { keys?: unknown };
    if (Array.isArray(keys.keys)) return keys as Parameters<typeof openReceipt>[1];
  } catch {
    // Said below.
  }
  throw new WrongUsage(`${where} holds no JWK set`);
}

function parseArguments(text: string): unknown {
  try {
    return parseExactJson(Buffer.from(text), { maxDepth: 64 });
  } catch (error) {
    if (error instanceof BadJson) throw new WrongUsage(`the arguments are not JSON: ${error.message}`);
    throw error;
  }
}

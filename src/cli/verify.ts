import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { systemFetch } from "../lib/fetch.ts";
import { BadJson } from "../lib/json-body.ts";
import { canonicalExact, parseExactJson, sha256Digest } from "../lib/exact-json.ts";
import { printable, printableJson } from "../lib/printable.ts";
import { openReceipt, type Receipt } from "../lib/receipt.ts";
import { consentText } from "../requests/model/consent.ts";
import { CLIENT_FLAGS, type Command, EXIT, type Io, onlyArgument, STORE_FLAGS, WrongUsage } from "./command.ts";
import { addressFrom, deciderLine } from "./pressed.ts";
import { serverUrl } from "./questions.ts";

export const verify: Command = {
  usage: "RECEIPT [--url URL] [--keys FILE|URL] [--fn NAME --kwargs FILE] [--address ADDRESS]",
  flags: {
    ...CLIENT_FLAGS,
    "--keys FILE|URL": "the keys of that server from elsewhere: its /.well-known/jwks.json, as a file or an address",
    "--fn NAME": "the function that is about to run",
    "--kwargs FILE": "its arguments, a file of JSON; - for standard input",
    "--address ADDRESS":
      "a mail address, phone number or Slack user that a decision must have come from; it opens this machine's store, " +
      "because nobody else can tell",
    "--json": "print what the receipt says",
    ...STORE_FLAGS,
  },
  example: "parley verify receipt.jws --fn refund --kwargs args.json",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        url: { type: "string" },
        keys: { type: "string" },
        fn: { type: "string" },
        kwargs: { type: "string" },
        address: { type: "string" },
        "data-dir": { type: "string" },
        config: { type: "string" },
        json: { type: "boolean" },
      },
    });
    const path = onlyArgument(positionals, "RECEIPT");
    if ((values.fn === undefined) !== (values.kwargs === undefined))
      throw new WrongUsage("--fn and --kwargs go together");
    if (values.address !== undefined && (values.keys ?? values.url) !== undefined)
      throw new WrongUsage("--address takes the keys of this machine's store: leave out --url and --keys");
    const jws = await textOf(path);
    const { receipt, mac } =
      values.address === undefined
        ? { receipt: await openReceipt(jws, await keysOf(values, io)), mac: null }
        : // Whoever only checks a receipt loads no database.
          await (await import("./verify-address.ts")).openByStore(jws, addressFrom(values.address), values, io);
    if (!receipt)
      return refuse(io, "The signature does not match: this is no receipt of that server, or it was changed.");
    if (values.json) io.out(printableJson(JSON.stringify(receipt)));
    if (mac !== null && !receipt.decided.some(({ address_mac }) => address_mac === mac))
      return refuse(io, "No decision in it came from that address.");
    if (receipt.outcome !== "approved")
      return refuse(io, `This was not approved: it is ${printable(endedLine(receipt))}.`);
    if (values.fn !== undefined && values.kwargs !== undefined) {
      const kwargs = canonicalExact(parseArguments(await textOf(values.kwargs)));
      if (sha256Digest(consentText(values.fn, kwargs)) !== receipt.consent_digest) {
        return refuse(io, "What was approved is not what would run: the digests differ.");
      }
    }
    if (!values.json) io.out(printable(`${endedLine(receipt)}; ${receipt.consent_digest}`));
    return EXIT.done;
  },
};

function endedLine({ outcome, decided, settled_at }: Receipt): string {
  const who = decided.map(deciderLine).join(", ");
  return `${outcome} at ${new Date(settled_at).toISOString()}${who === "" ? "" : ` by ${who}`}`;
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

async function keysOf(
  flags: { keys?: string | undefined; url?: string | undefined },
  io: Io,
): Promise<Parameters<typeof openReceipt>[1]> {
  const where = flags.keys ?? `${serverUrl(flags.url, io.env)}/.well-known/jwks.json`;
  const text = /^https?:\/\//.test(where) ? await fetched(where) : await textOf(where);
  try {
    const keys = JSON.parse(text) as { keys?: unknown };
    if (Array.isArray(keys.keys)) return keys as Parameters<typeof openReceipt>[1];
  } catch {
    // Said below.
  }
  throw new WrongUsage(`${where} holds no JWK set`);
}

async function fetched(url: string): Promise<string> {
  try {
    return await (await systemFetch(url)).text();
  } catch {
    throw new WrongUsage(`the server's keys cannot be had at ${url}: set --url, PARLEY_URL or --keys`);
  }
}

function parseArguments(text: string): unknown {
  try {
    return parseExactJson(Buffer.from(text), { maxDepth: 64 });
  } catch (error) {
    if (error instanceof BadJson) throw new WrongUsage(`the arguments are not JSON: ${error.message}`);
    throw error;
  }
}

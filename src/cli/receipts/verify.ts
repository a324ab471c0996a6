import { readFile } from "node:fs/promises";
import { BadJson } from "../../lib/json/json-body.ts";
import { canonicalExact, parseExactJson, sha256Digest } from "../../lib/json/exact-json.ts";
import { printable, printableJson } from "../../lib/printable.ts";
import { isOutcome, openReceipt, presentKeys, type Receipt } from "../../lib/receipt.ts";
import { consentText } from "../../requests/model/consent.ts";
import { WrongUsage } from "../arguments.ts";
import { CLIENT_FLAGS, command, EXIT, type Io, STORE_FLAGS } from "../command.ts";
import { isBy } from "../../connect/decided-by.ts";
import { BY_FLAG } from "../ask/by-flag.ts";
import { addressFrom, deciderLine } from "../ask/decision-origin.ts";
import { verifyOutcome } from "./outcome.ts";
import { vouchedLine, whyUnopened } from "./unopened.ts";
import { serverUrl } from "../server-client.ts";
import { fetchKeys, fetchReceipt, isAddress, type KnownKeys, type ReceiptAddress, receiptAddress } from "./source.ts";

export const verify = command({
  takes: {
    RECEIPT: "a file, or the address at which a server has it",
    ...CLIENT_FLAGS,
    "--keys FILE|URL":
      "the keys of that server: its /.well-known/jwks.json, as a file or an address; else those that the server of the " +
      "receipt's address names, or of --url",
    "--fn NAME": "the function that is about to run",
    "--kwargs FILE": "its arguments, a file of JSON; - for standard input",
    "--address ADDRESS": {
      help:
        "a mail address, phone number or Slack user that a decision must have come from; it opens this machine's store, " +
        "because nobody else can tell",
      read: addressFrom,
    },
    ...BY_FLAG,
    "--json": "print what the receipt says",
    ...STORE_FLAGS,
  },
  example: "parley verify http://127.0.0.1:3415/receipts/ask_5b0e --fn refund --kwargs args.json",
  async run({ receipt: path, keys: keysAt, fn, kwargs, address, by, json, url, ...store }, io) {
    const place = isAddress(path) ? receiptAddress(path) : null;
    if ((fn === undefined) !== (kwargs === undefined)) throw new WrongUsage("--fn and --kwargs go together");
    if (address !== undefined && (keysAt ?? url) !== undefined)
      throw new WrongUsage("--address takes the keys of this machine's store: leave out --url and --keys");
    const jws = place === null ? await textOf(path) : await fetchReceipt(place, io);
    if (await isOutcome(jws)) {
      if ((fn ?? address ?? by) !== undefined)
        throw new WrongUsage("--fn, --address and --by are of receipts, and this is the end of a call");
      return verifyOutcome(jws, { place, known: await keysOf({ keys: keysAt, url }, place, io), json }, io);
    }
    const { receipt, mac, keys } =
      address === undefined
        ? await openByKeys(jws, await keysOf({ keys: keysAt, url }, place, io), place !== null)
        : // Loads the database, which a plain check does not need.
          await (await import("./address.ts")).openByStore(jws, address, store, io);
    if (!receipt) return refuse(io, await whyUnopened(jws, keys));
    if (place !== null && receipt.jti !== place.id)
      return refuse(io, `At that address stands the receipt of another request, ${printable(receipt.jti)}.`);
    if (json) io.out(printableJson(JSON.stringify(receipt)));
    if (mac !== null && !receipt.decided.some(({ address_mac }) => address_mac === mac))
      return refuse(io, "No decision in it came from that address.");
    if (receipt.outcome !== "approved")
      return refuse(io, `This was not approved: it is ${printable(endedLine(receipt))}.`);
    if (by !== undefined && !isBy(by, peopleIn(receipt)))
      return refuse(io, `This was not approved by whom it must be: it is ${printable(endedLine(receipt))}.`);
    if (fn !== undefined && kwargs !== undefined) {
      const canonical = canonicalExact(parseArguments(await textOf(kwargs)));
      if (sha256Digest(consentText(fn, canonical)) !== receipt.consent_digest) {
        return refuse(io, "What was approved is not what would run: the digests differ.");
      }
    }
    if (!json) io.out(printable(`${endedLine(receipt)}; ${receipt.consent_digest}`));
    io.tell(printable(vouchedLine(receipt, keys)));
    return EXIT.done;
  },
});

function peopleIn({ decided }: Receipt): string[] {
  return decided.filter(({ kind }) => kind === "person").map(({ id }) => id);
}

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

async function openByKeys(
  jws: string,
  { set: all, from }: KnownKeys,
  isFresh: boolean,
): Promise<{ receipt: Receipt | null; mac: null; keys: KnownKeys }> {
  const set = isFresh ? presentKeys(all) : all;
  return { receipt: await openReceipt(jws, set), mac: null, keys: { set: all, from } };
}

async function keysOf(
  flags: { keys?: string | undefined; url?: string | undefined },
  place: ReceiptAddress | null,
  io: Io,
): Promise<KnownKeys> {
  const server = flags.url === undefined && place !== null ? place.server : serverUrl(flags.url, io.env);
  const where = flags.keys ?? `${server}/.well-known/jwks.json`;
  const text = isAddress(where) ? await fetchKeys(where, io) : await textOf(where);
  try {
    const set = JSON.parse(text) as { keys?: unknown } | null;
    if (Array.isArray(set?.keys)) return { set: set as KnownKeys["set"], from: flags.keys ?? server };
  } catch {
    // Reported below.
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

import { systemClock } from "../../lib/clock.ts";
import { openDeadline } from "../../lib/deadline.ts";
import { systemFetch } from "../../lib/network/fetch.ts";
import { isOwnName } from "../../lib/network/reach.ts";
import type { openReceipt } from "../../lib/receipt.ts";
import { WrongUsage } from "../arguments.ts";
import type { Io } from "../command.ts";
import { agentKey, serverUrl } from "../server-client.ts";

const REPLY_MS = 30_000;
/** In the place of a reply's status where there was none. */
const UNREACHABLE = 0;
const RECEIPT_PATH = /^(.*)\/receipts\/([^/]+?)(?:\/outcome)?$/;

/** Keys that sign receipts, and whose word it is that they do. */
export interface KnownKeys {
  set: Parameters<typeof openReceipt>[1];
  from: string;
}

/** Where a receipt stands: on which server, and of which request. */
export interface ReceiptAddress {
  href: string;
  server: string;
  id: string;
}

/** True for what is fetched, and is no file. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** Returns the parts of a receipt's address. @throws {WrongUsage} for the address of anything else */
export function receiptAddress(text: string): ReceiptAddress {
  const url = trustworthy(text);
  const [, prefix, id] = RECEIPT_PATH.exec(url.pathname) ?? [];
  if (prefix === undefined || id === undefined) {
    const endings = "/receipts/ID, or /receipts/ID/outcome for the end of the call";
    throw new WrongUsage(`${text} is not the address of a receipt, which ends in ${endings}`);
  }
  return { href: url.origin + url.pathname, server: url.origin + prefix, id };
}

/**
 * Returns the receipt at an address. The key in the environment is sent only to the environment's own server, and never
 * along a redirect.
 *
 * @throws {WrongUsage} the reason why the receipt cannot be fetched
 */
export async function fetchReceipt({ href, server }: ReceiptAddress, io: Io): Promise<string> {
  const own = serverUrl(undefined, io.env);
  const isOwn = URL.canParse(own) && new URL(own).href.replace(/(?<!\/)\/+$/, "") === server;
  const key = isOwn ? agentKey(own, io.env) : undefined;
  const reply = await fetched(href, io, { accept: "application/jose", ...(key && { authorization: `Bearer ${key}` }) });
  if (reply.status === 200) return reply.text;
  if (reply.status === UNREACHABLE) throw new WrongUsage(`nothing answers at ${href}`);
  const unshown = `; PARLEY_KEY goes only to the server of PARLEY_URL: set that to ${server}`;
  const more = !key && io.env["PARLEY_KEY"] ? unshown : "";
  if (reply.status === 401)
    throw new WrongUsage(`${server} wants to know who reads ${href}${more || ": set PARLEY_KEY"}`);
  if (reply.status === 404) {
    const readers = "only who asked, who decided and an admin may read it";
    throw new WrongUsage(`there is no receipt at ${href}, or not for you: ${readers}${more}`);
  }
  throw new WrongUsage(`${href} was answered with status ${reply.status}, and no receipt`);
}

/** Returns what stands at the address of a server's keys, which is shown no key. @throws {WrongUsage} */
export async function fetchKeys(address: string, io: Io): Promise<string> {
  const { href } = trustworthy(address);
  const reply = await fetched(href, io, { accept: "application/json" });
  if (reply.status === 200) return reply.text;
  const why = reply.status === UNREACHABLE ? "nothing answers there" : `it was answered with status ${reply.status}`;
  throw new WrongUsage(`the server's keys cannot be had at ${address}: ${why}; set --url, PARLEY_URL or --keys`);
}

/** Returns an address whose word can be taken. @throws {WrongUsage} */
function trustworthy(text: string): URL {
  if (!URL.canParse(text)) throw new WrongUsage(`${text} is no address`);
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    throw new WrongUsage(`the address of ${url.host} holds a name or password: leave it out`);
  }
  if (url.protocol === "http:" && !isOwnName(url.hostname)) {
    throw new WrongUsage(
      `http://${url.host} is another computer by plain HTTP, where anybody between can change receipt and keys alike: use https, or files`,
    );
  }
  return url;
}

async function fetched(
  href: string,
  io: Io,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  using deadline = openDeadline(systemClock, REPLY_MS, io.interrupted);
  let reply: Response;
  let text: string;
  try {
    // Another address would be another's word.
    reply = await systemFetch(href, { headers, redirect: "manual", signal: deadline.signal });
    text = await reply.text();
  } catch (cause) {
    if (io.interrupted.aborted) throw cause;
    return { status: UNREACHABLE, text: "" };
  }
  const location = reply.headers.get("location");
  if (reply.status >= 300 && reply.status < 400 && location !== null) {
    throw new WrongUsage(`${href} sends on to ${location}, which is not followed: give the address where it stands`);
  }
  return { status: reply.status, text };
}

import type { Transporter } from "nodemailer";
import type { Mailbox } from "../../lib/mail-address.ts";
import { isLoopback } from "../../lib/network/network.ts";
import { DeliveryError } from "../channel.ts";
import type { Outgoing } from "./compose.ts";

const CONNECT_WITHIN_MS = 10_000;
const SILENT_FOR_MS = 25_000;

/** Sends one mail to one recipient. @throws {DeliveryError} */
export type SendMail = (mail: Outgoing, signal: AbortSignal) => Promise<void>;

/** Host, port and credentials of a mail server, and whether it is on this computer. */
export interface MailServer {
  host: string;
  port: number;
  /** TLS from the first byte. */
  secure: boolean;
  loopback: boolean;
  auth?: { user: string; pass: string };
  /** The path after the host, without its leading slash. */
  path: string;
}

/** Reads the address of a mail server, such as `smtps://user:secret@mail.example.com`. */
export function mailServerAt(url: string, ports: { plain: number; secure: number }): MailServer {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  const secure = /^(smtps|imaps):$/.test(protocol);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    host,
    port: port === "" ? (secure ? ports.secure : ports.plain) : Number(port),
    secure,
    loopback: host === "localhost" || isLoopback(host),
    ...(username !== "" && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    path: decodeURIComponent(pathname.replace(/^\/+/, "")),
  };
}

/**
 * Returns what sends mails through one server, each in a transaction of its own with one recipient. Off this computer
 * nothing, and no password, is sent before the connection is encrypted.
 */
export function openSmtp(url: string, from: Mailbox): SendMail {
  const { host, port, secure, loopback, auth } = mailServerAt(url, { plain: 587, secure: 465 });
  let transport: Promise<Transporter> | undefined;

  async function open(): Promise<Transporter> {
    const { createTransport } = await import("nodemailer");
    return createTransport({
      host,
      port,
      secure,
      ...(auth && { auth }),
      requireTLS: !loopback,
      ignoreTLS: loopback,
      connectionTimeout: CONNECT_WITHIN_MS,
      greetingTimeout: CONNECT_WITHIN_MS,
      socketTimeout: SILENT_FOR_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  return async (mail, signal) => {
    try {
      const { recipient, references, to, cc, ...rest } = mail;
      await (
        await (transport ??= open())
      ).sendMail({
        ...rest,
        envelope: { from: from.address, to: [recipient] },
        from,
        to: to.map((address) => ({ name: "", address })),
        cc: cc.map((address) => ({ name: "", address })),
        references: references.join(" "),
        // Outlook offers no reactions to such a mail; a reaction is no answer.
        headers: { "Auto-Submitted": "auto-generated", "X-MS-Reactions": "disallow" },
        signal,
      });
    } catch (error) {
      throw deliveryErrorOf(error);
    }
  };
}

/** The server's own words may hold addresses and stay out: its number says what is needed. */
function deliveryErrorOf(error: unknown): DeliveryError {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  const providerCode = responseCode === undefined ? code : String(responseCode);
  const isRefused = responseCode === undefined ? code === "EENVELOPE" : responseCode >= 500 && responseCode !== 503;
  const says = isRefused ? "the mail server refused it" : "the mail server could not take it";
  return new DeliveryError(says, { retry: !isRefused, ...(providerCode !== undefined && { providerCode }) });
}

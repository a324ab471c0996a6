import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import type { SMTPServerDataStream, SMTPServerError, SMTPServerSession } from "smtp-server";
import type { Receive } from "../channel.ts";
import type { TakeMail } from "./inbound.ts";
import { tokensIn } from "./names.ts";
import { MailPutOff } from "./sender-budget.ts";

export const LARGEST_MAIL_BYTES = 10 * 1024 * 1024;
/** Each may hold a mail in memory. */
const MOST_CLIENTS = 20;
const MOST_RECIPIENTS = 10;
const CLOSE_WITHIN_MS = 2000;

export interface ListenerSettings {
  /** Such as `127.0.0.1:2525`. */
  listen: string;
  /** PEM files; without them there is no STARTTLS. */
  certFile?: string | undefined;
  keyFile?: string | undefined;
  domain: string;
  /** The address that this server writes from, and those of its agents, in lower case. */
  agents: readonly string[];
  log: Logger;
  onListening: (port: number) => void;
}

/**
 * Takes mail by SMTP until aborted: for addresses of agents and well-formed reply addresses only, so that it can never
 * pass mail on to somebody else. A mail is accepted once what it changed is on disk; where that fails the other side is
 * asked to come again (spec/channels 5.4).
 *
 * @throws {Error} when the port cannot be had
 */
export async function listenForMail(
  settings: ListenerSettings,
  take: TakeMail,
  receive: Receive,
  signal: AbortSignal,
): Promise<void> {
  const { SMTPServer } = await import("smtp-server");
  const { listen, certFile, keyFile, domain, agents, log } = settings;
  const tls = certFile !== undefined && keyFile !== undefined;
  const server = new SMTPServer({
    name: domain,
    banner: "Parley",
    size: LARGEST_MAIL_BYTES,
    authOptional: true,
    disabledCommands: tls ? ["AUTH"] : ["AUTH", "STARTTLS"],
    ...(tls && { cert: readFileSync(certFile), key: readFileSync(keyFile) }),
    disableReverseLookup: true,
    logger: false,
    maxClients: MOST_CLIENTS,
    maxRecipients: MOST_RECIPIENTS,
    closeTimeout: CLOSE_WITHIN_MS,
    onRcptTo({ address }, _session, done) {
      const isOurs = agents.includes(address.toLowerCase()) || isReplyAddress(address);
      done(isOurs ? null : refusal(550, "No such recipient here"));
    },
    onData(stream, session, done) {
      readWhole(stream, (raw) => {
        if (raw === "too large") return done(refusal(552, "The mail is too large"));
        accept(raw, session).then(
          () => done(null, "Taken"),
          (error: unknown) => {
            if (!(error instanceof MailPutOff)) log.error({ err: error }, "a mail could not be taken");
            done(refusal(451, "Come again later"));
          },
        );
      });
    },
  });

  function isReplyAddress(address: string): boolean {
    return tokensIn(address, domain).length === 1 && /^[^@\s]+@[^@\s]+$/.test(address) && /^ask\+/i.test(address);
  }

  async function accept(raw: Buffer, { envelope }: SMTPServerSession): Promise<void> {
    const recipients = envelope.rcptTo.map(({ address }) => address);
    const fromNobody = envelope.mailFrom === false || envelope.mailFrom.address === "";
    await take({ raw, recipients, fromNobody }, receive);
  }

  // A client that breaks off or speaks nonsense is no matter of ours.
  server.on("error", (error) => log.debug({ err: error }, "a mail connection failed"));
  const { host, port } = hostAndPort(listen);
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject);
    server.listen(port, host, () => resolve());
  });
  const at = server.server.address();
  settings.onListening(typeof at === "object" && at !== null ? at.port : port);
  await aborted(signal);
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

/** Gives a mail on when its last byte is here; none of it is kept beyond what a mail may be. */
function readWhole(stream: SMTPServerDataStream, onWhole: (raw: Buffer | "too large") => void): void {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => {
    if (!stream.sizeExceeded) chunks.push(chunk);
  });
  stream.on("end", () => onWhole(stream.sizeExceeded ? "too large" : Buffer.concat(chunks)));
}

function refusal(responseCode: number, says: string): SMTPServerError {
  return Object.assign(new Error(says), { responseCode });
}

/** Reads `127.0.0.1:2525` or `[::1]:2525`. */
function hostAndPort(listen: string): { host: string; port: number } {
  const at = listen.lastIndexOf(":");
  return { host: listen.slice(0, at).replace(/^\[(.*)\]$/, "$1"), port: Number(listen.slice(at + 1)) };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createTransport } from "nodemailer";
import { programOf } from "../support/parts.ts";
import { reservePort } from "../support/ports.ts";

const STARTS_WITHIN_MS = 60_000;
/** Nobody's: Dovecot keeps no mail as root. */
const NOBODY = 65_534;

export const MAILBOX_USER = "ask@parley.example";

/** A mail server with one user, whose mail is addressed to `ask+anything@parley.example`. */
export interface Dovecot extends AsyncDisposable {
  imapUrl: string;
  /** Hands a mail over by LMTP, as the operator's mail server does. */
  deliver(raw: string, to: string): Promise<void>;
  restart(): Promise<void>;
}

export async function startDovecot(): Promise<Dovecot> {
  const program = programOf("Dovecot") ?? "dovecot";
  const root = mkdtempSync(join(tmpdir(), "parley-dovecot-"));
  const { uid, gid, username } = userInfo();
  const [mailUid, mailGid] = uid === 0 ? [NOBODY, NOBODY] : [uid, gid];
  chmodSync(root, 0o755);
  mkdirSync(join(root, "home"));
  chownSync(join(root, "home"), mailUid, mailGid);
  const [imapPort, lmtpPort] = [await reservePort(), await reservePort()];
  const config = join(root, "dovecot.conf");
  const group = execFileSync("id", ["-gn"], { encoding: "utf8" }).trim();
  const own = ["default_internal_user", "default_login_user"].map((name) => `${name} = ${username}`);
  const users = uid === 0 ? "" : [...own, `default_internal_group = ${group}`, ""].join("\n");
  writeFileSync(
    config,
    `${users}base_dir = ${root}/run
state_dir = ${root}/run
log_path = ${root}/log
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
first_valid_uid = 1
mail_location = maildir:~/Maildir
recipient_delimiter = +
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=${mailUid} gid=${mailGid} home=${root}/home allow_all_users=yes
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${imapPort}
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  chroot =
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${lmtpPort}
  }
}
`,
  );

  let master: ChildProcess | undefined;
  async function start(): Promise<void> {
    master = spawn(program, ["-F", "-c", config], { stdio: "ignore" });
    const deadline = performance.now() + STARTS_WITHIN_MS;
    while (!(await canConnect(imapPort)) || !(await canConnect(lmtpPort))) {
      if (performance.now() > deadline || master.exitCode !== null) {
        const log = join(root, "log");
        throw new Error(`Dovecot did not start: ${existsSync(log) ? readFileSync(log, "utf8") : "no log"}`);
      }
      await pause(25);
    }
  }
  async function stop(): Promise<void> {
    if (!master || master.exitCode !== null) return;
    const ended = once(master, "exit");
    master.kill("SIGTERM");
    await ended;
  }

  await start();
  return {
    imapUrl: `imap://${encodeURIComponent(MAILBOX_USER)}:secret@127.0.0.1:${imapPort}/INBOX`,
    async deliver(raw, to) {
      const transport = createTransport({ host: "127.0.0.1", port: lmtpPort, lmtp: true, ignoreTLS: true });
      await transport.sendMail({ envelope: { from: "ana@people.example", to: [to] }, raw });
    },
    async restart() {
      await stop();
      await start();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * The parts that tests need beyond the packages of npm. This is their one list: tests check it and `npm test` installs
 * its parts.
 *
 * Under `npm test` the missing parts were found before (scripts/test.mjs) and stand in the environment. A file that is
 * run alone looks for itself.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { it } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import { findProgram } from "../../src/workshop/sandbox/program-needs.ts";
import { selfTest } from "../../src/workshop/sandbox/sandbox.ts";

export interface Part {
  name:
    | "Dovecot"
    | "bubblewrap"
    | "Python 3"
    | "Python's build tools"
    | "curl"
    | "ps"
    | "zsh"
    | "fish"
    | "npm's registry"
    | "root"
    | "systemd"
    | "nginx"
    | "Caddy"
    | "Prometheus"
    | "promtool";
  /** The subject that is tested with it. */
  purpose: string;
  /** How it is found; null where it is no program. */
  program: string | null;
  /** The packages of Debian that bring it. */
  debian: readonly string[];
  /** Whether it works unpacked in any folder; Dovecot looks for its own parts where it was built for. */
  worksAnywhere: boolean;
  /** Never installed, because that would start a server of the machine's own: it is unpacked, for root too. */
  isOnlyUnpacked?: true;
  /** Whether `npm test -- --all` insists on it. A part from PyPI may be out of reach where npm's registry is not. */
  isInsistedOn: boolean;
  /** Why it cannot be used here although it may be there; false when it can. */
  trouble(program: string): string | false | Promise<string | false>;
}

export interface Missing {
  part: Part;
  why: string;
  /** Not there at all, so that it can be brought; else it is there and cannot be used. */
  isAbsent: boolean;
}

/** Set by `npm test` for the tests: why each missing part is missing, by its name, as JSON. */
export const MISSING_VARIABLE = "TEST_PARTS_MISSING";
/** The folder into which `npm test` puts parts for a user who may not install them. Several checkouts may share it. */
export const TOOLS = resolve(process.env["TEST_TOOLS"] ?? join(import.meta.dirname, "../../.tools"));
const UNREACHABLE = /E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NETUNREACH|HOSTUNREACH)|ERR_SOCKET_TIMEOUT/;
/** Mail servers are where only root's PATH leads. */
const MORE_PROGRAMS = ["/usr/local/sbin", "/usr/sbin", "/opt/homebrew/sbin"];
const PROGRAMS = [join(TOOLS, "bin"), process.env["PATH"] ?? "", ...MORE_PROGRAMS].join(delimiter);

export const PARTS: readonly Part[] = [
  {
    name: "Dovecot",
    purpose: "reading a mailbox by IMAP",
    program: "dovecot",
    debian: ["dovecot-core", "dovecot-imapd", "dovecot-lmtpd"],
    worksAnywhere: false,
    isInsistedOn: true,
    trouble: (program) => {
      const version = said(program, "--version");
      return version.startsWith("2.3.") ? false : `Dovecot says ${version || "nothing"}, and the tests need 2.3`;
    },
  },
  {
    name: "bubblewrap",
    purpose: "keeping coding agents in a sandbox",
    program: "bwrap",
    debian: ["bubblewrap"],
    worksAnywhere: true,
    isInsistedOn: true,
    trouble: async () => {
      const found = await selfTest({ dataFolder: import.meta.dirname, clock: systemClock, path: PROGRAMS });
      return found.kind === "none" && found.why;
    },
  },
  {
    name: "Python 3",
    purpose: "the Python package, Python in the documents, and people at a terminal",
    program: "python3",
    debian: ["python3"],
    worksAnywhere: true,
    isInsistedOn: true,
    trouble: (program) =>
      said(program, "-c", "import pty, unittest; print('ready')") !== "ready" && "it does not start",
  },
  {
    name: "Python's build tools",
    purpose: "the Python package as it is published",
    program: "python3",
    debian: ["python3-venv"],
    worksAnywhere: false,
    isInsistedOn: false,
    trouble: () => {
      const build = join(import.meta.dirname, "../../scripts/build-python.mjs");
      const { status, stderr } = spawnSync(process.execPath, [build, "--tools"], { encoding: "utf8" });
      return status !== 0 && (/Could not find a version|ensurepip/.exec(stderr)?.[0] ?? "they could not be fetched");
    },
  },
  {
    name: "curl",
    purpose: "shell commands in the documents",
    program: "curl",
    debian: ["curl"],
    worksAnywhere: true,
    isInsistedOn: true,
    trouble: () => false,
  },
  {
    name: "ps",
    purpose: "the record of what an agent started, for systems without /proc",
    program: "ps",
    debian: ["procps"],
    worksAnywhere: true,
    isInsistedOn: true,
    trouble: () => false,
  },
  {
    name: "zsh",
    purpose: "completing commands in zsh",
    program: "zsh",
    debian: ["zsh"],
    worksAnywhere: false,
    isInsistedOn: true,
    trouble: () => false,
  },
  {
    name: "fish",
    purpose: "completing commands in fish",
    program: "fish",
    debian: ["fish"],
    worksAnywhere: false,
    isInsistedOn: true,
    trouble: () => false,
  },
  {
    name: "systemd",
    purpose: "its units, and a server that is started by its socket",
    program: "systemd-socket-activate",
    debian: ["systemd"],
    worksAnywhere: false,
    isInsistedOn: true,
    trouble: () => false,
  },
  {
    name: "nginx",
    purpose: "its configuration before the server",
    program: "nginx",
    debian: ["nginx"],
    worksAnywhere: true,
    isOnlyUnpacked: true,
    isInsistedOn: true,
    trouble: () => false,
  },
  {
    name: "Caddy",
    purpose: "its configuration before the server",
    program: "caddy",
    debian: ["caddy"],
    worksAnywhere: true,
    isOnlyUnpacked: true,
    isInsistedOn: true,
    trouble: () => false,
  },
  {
    name: "Prometheus",
    purpose: "its reading of the server's figures, alerts and dashboard",
    program: "prometheus",
    debian: ["prometheus"],
    worksAnywhere: true,
    isOnlyUnpacked: true,
    isInsistedOn: true,
    trouble: () => false,
  },
  {
    name: "promtool",
    purpose: "the rules by which Prometheus alerts",
    program: "promtool",
    debian: ["prometheus"],
    worksAnywhere: true,
    isOnlyUnpacked: true,
    isInsistedOn: true,
    trouble: () => false,
  },
  {
    name: "npm's registry",
    purpose: "the README's two commands in a fresh clone",
    program: "npm",
    debian: [],
    worksAnywhere: false,
    isInsistedOn: true,
    trouble: (program) => {
      const once = ["--fetch-retries=0", "--fetch-timeout=10000"];
      const { stderr } = spawnSync(program, ["ping", ...once], { encoding: "utf8" });
      return UNREACHABLE.exec(stderr ?? "")?.[0] ?? false;
    },
  },
  {
    name: "root",
    purpose: "files that belong to somebody else",
    program: null,
    debian: [],
    worksAnywhere: false,
    isInsistedOn: true,
    trouble: () => process.getuid?.() !== 0 && "only root can give files away",
  },
];

// Programs that tests and the product start by name are found there, too.
if (existsSync(TOOLS)) process.env["PATH"] = `${join(TOOLS, "bin")}${delimiter}${process.env["PATH"] ?? ""}`;

/** Returns where a part's program is. */
export function programOf(name: Part["name"]): string | null {
  const program = PARTS.find((part) => part.name === name)?.program ?? null;
  return program === null ? null : findProgram(program, PROGRAMS);
}

/** Looks for each part, and returns those that cannot be used here. */
export async function missingParts(parts: readonly Part[] = PARTS): Promise<Missing[]> {
  const missing: Missing[] = [];
  for (const part of parts) {
    const program = programOf(part.name);
    const isAbsent = part.program !== null && program === null;
    const why = isAbsent ? "it is not installed" : await part.trouble(program ?? "");
    if (why !== false) missing.push({ part, why, isAbsent });
  }
  return missing;
}

/** Returns whether a part can be used here. */
export async function canUse(name: Part["name"]): Promise<boolean> {
  const given = process.env[MISSING_VARIABLE];
  if (given) return !Object.hasOwn(JSON.parse(given) as object, name);
  return (await missingParts(PARTS.filter((part) => part.name === name))).length === 0;
}

/**
 * Returns `it` for tests that need a part: where it cannot be used, each such test is skipped, and counted as skipped.
 * (The tests of a suite that is skipped as a whole are not counted by Node at all.)
 */
export async function itWith(name: Part["name"]): Promise<typeof it.skip> {
  return (await canUse(name)) ? it : it.skip;
}

function said(program: string, ...args: string[]): string {
  return (spawnSync(program, args, { encoding: "utf8" }).stdout ?? "").trim();
}

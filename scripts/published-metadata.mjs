import { spawnSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { isIP } from "node:net";
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MANIFEST = new URL("../package.json", import.meta.url);
/** Names that say nothing outside of one computer or one network (RFC 6761, 6762, 8375 and custom). */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa)$/;

/** Returns what the package.json of each published package says alike; the package's sources are in that folder. */
export function publishedMetadata(folder = ROOT) {
  const { version, license, ...own } = JSON.parse(readFileSync(MANIFEST, "utf8"));
  const { repository, homepage, bugs } = own;
  const isSaid = repository ?? homepage ?? bugs;
  return {
    version,
    license,
    ...(isSaid ? { repository, homepage, bugs } : placesOf(sourcesOf(ROOT), relative(ROOT, folder))),
    keywords: ["agents", "approval", "human-in-the-loop", "mcp", "self-hosted"],
    // A package whose name has a scope is private otherwise.
    publishConfig: { access: "public" },
  };
}

/**
 * Returns where everybody finds the sources of the clone at `root`, by its remote `origin`: an https address without
 * name or password. Null where that is no clone, has no such remote, or the remote is no public host of repositories.
 */
export function sourcesOf(root) {
  const top = git(root, ["rev-parse", "--show-toplevel"]);
  // Sources that lie in somebody else's clone are not that clone's.
  if (top === null || realpathSync(top) !== realpathSync(root)) return null;
  const remote = git(root, ["config", "--get", "remote.origin.url"]);
  return remote === null ? null : publicAddress(remote);
}

/** Returns the https address of a remote of git; null for a remote that others cannot reach. */
export function publicAddress(remote) {
  // A remote without a scheme is `user@host:path`, unless it is the path of a folder.
  const short = /^(?:[^@/\s]+@)?([^:/\s]+):(?!\/\/)\/?(\S+)$/.exec(remote);
  const text = short ? `ssh://${short[1]}/${short[2]}` : remote;
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, port, pathname } = new URL(text);
  if (!["https:", "ssh:", "git+ssh:"].includes(protocol) || !URL.canParse(`https://${hostname}`)) return null;
  // The URL parser normalizes a host for https only: 127.1 is an address.
  const host = new URL(`https://${hostname}`).hostname.replace(/\.$/, "");
  if (!host.includes(".") || isIP(host) || LOCAL_NAME.test(host)) return null;
  const path = pathname.replace(/\/+$/, "");
  if (path === "") return null;
  // The port is dropped for ssh, because it belongs to the ssh server and not to its web site.
  return `https://${host}${protocol === "https:" && port ? `:${port}` : ""}${path}`;
}

function placesOf(address, folder) {
  if (address === null) return {};
  const page = address.replace(/\.git$/, "");
  const directory = folder.split(sep).join("/");
  return {
    repository: { type: "git", url: `git+${address}`, ...(directory !== "" && { directory }) },
    homepage: `${page}#readme`,
    bugs: { url: `${page}/issues` },
  };
}

/** Returns what git says, and null where it is not there or refuses. */
function git(folder, words) {
  // A hook of git names the repository that it runs for.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
  const { status, stdout } = spawnSync("git", ["-C", folder, ...words], { encoding: "utf8", env });
  return status === 0 ? stdout.trim() : null;
}

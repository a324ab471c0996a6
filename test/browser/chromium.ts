/**
 * Finds a Chromium and starts it: `CHROMIUM_PATH`, else the system's own, else the one that comes with the
 * development dependencies, which brings its libraries along and needs neither root nor an installed package.
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from "playwright-core";
import { shared } from "../support/shared.ts";

/** Exported, because a folder of tests with packages of its own may hold another version of the driver. */
export type { Browser };

const FLAGS = [
  "--headless",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const SYSTEM_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const SYSTEM_PATHS = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** How long a page has for whatever a test waits for; it costs nothing where that comes, and a busy machine is waited for. */
const WITHIN_MS = 90_000;

interface Found {
  readonly path: string;
  readonly env: Record<string, string>;
}

/**
 * A headless browser is running. Where test files share a process they share the browser, too: `close` then closes what
 * was opened through this call, and no profile is ever used twice.
 */
export async function launchBrowser(): Promise<Browser> {
  const one = await shared(
    "chromium",
    () => launch(),
    (browser) => browser.close(),
  );
  // A browser that crashed in an earlier file takes no later one with it.
  return one?.isConnected() ? part(one) : launch();
}

/** Starts a browser of its own that other programs reach at `port`. */
export async function launchReachable(port: number): Promise<Browser> {
  return launch([`--remote-debugging-port=${port}`]);
}

/** A browser that closes only what was opened through it. */
function part(whole: Browser): Browser {
  const opened: BrowserContext[] = [];
  const own = {
    async newContext(options?: BrowserContextOptions): Promise<BrowserContext> {
      const context = await whole.newContext(options);
      opened.push(context);
      return context;
    },
    contexts: () => whole.contexts().filter((context) => opened.includes(context)),
    async close(): Promise<void> {
      await Promise.all(own.contexts().map((context) => context.close()));
    },
    [Symbol.asyncDispose]: () => own.close(),
  };
  return new Proxy(whole, {
    get(target, name) {
      if (name in own) return own[name as keyof typeof own];
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/**
 * Starts a browser with a temporary directory of its own, which goes when it is closed.
 *
 * The sandbox stays on, except for root, who cannot have it, and on systems that give it to nobody.
 */
async function launch(flags: readonly string[] = []): Promise<Browser> {
  const { path, env } = await findChromium();
  const directory = mkdtempSync(join(tmpdir(), "parley-browser-"));
  const tidy = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", tidy);
  const start = (sandboxed: boolean) =>
    chromium.launch({
      executablePath: path,
      args: [...FLAGS, ...flags],
      chromiumSandbox: sandboxed,
      timeout: WITHIN_MS,
      env: { ...process.env, ...env, TMPDIR: directory, HOME: directory },
    });

  try {
    const isRoot = process.getuid?.() === 0;
    const browser = await start(!isRoot).catch((error: unknown) => {
      if (isRoot || !/no usable sandbox/i.test(String(error))) throw error;
      return start(false);
    });
    browser.on("disconnected", () => {
      process.off("exit", tidy);
      tidy();
    });
    return browser;
  } catch (error) {
    tidy();
    throw error;
  }
}

/** Opens a fresh profile, whose pages are waited for patiently. */
export async function newProfile(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(WITHIN_MS);
  return context;
}

async function findChromium(): Promise<Found> {
  const named = process.env["CHROMIUM_PATH"];
  if (named) return { path: named, env: {} };

  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = [...folders.flatMap((folder) => SYSTEM_NAMES.map((name) => join(folder, name))), ...SYSTEM_PATHS];
  const system = candidates.find(isExecutable);
  if (system) return { path: system, env: {} };

  if (process.platform === "linux" && process.arch === "x64") return bundledChromium();
  throw new Error("No Chromium was found. Install Chrome or Chromium, or set CHROMIUM_PATH to one.");
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The packed browser stands unpacked beside the package, where only those who can write the checkout can change it. */
async function bundledChromium(): Promise<Found> {
  const packed = join(dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))), "..", "bin");
  const unpacked = join(packed, "..", "unpacked");
  if (!existsSync(unpacked)) await unpack(packed, unpacked);
  return {
    path: join(unpacked, "chromium"),
    env: { LD_LIBRARY_PATH: join(unpacked, "al2023", "lib"), FONTCONFIG_FILE: join(unpacked, "fonts.conf") },
  };
}

/** Two processes may unpack at once: each does so in a folder of its own, and the first to finish gives it the name. */
async function unpack(packed: string, unpacked: string): Promise<void> {
  const { inflate } = await import("@sparticuz/chromium");
  const mine = `${unpacked}.${process.pid}`;
  mkdirSync(mine, { recursive: true });

  // The package unpacks into the temporary directory and reads its name before it first yields.
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = mine;
  const parts = ["chromium.br", "al2023.tar.br", "fonts.tar.br"].map((name) => inflate(join(packed, name)));
  if (before === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = before;
  await Promise.all(parts);
  chmodSync(join(mine, "chromium"), 0o755);

  const fonts = [join(unpacked, "fonts", "fonts"), "/usr/share/fonts"].map((folder) => `<dir>${folder}</dir>`).join("");
  writeFileSync(join(mine, "fonts.conf"), `<fontconfig>${fonts}<cachedir prefix="xdg">fonts</cachedir></fontconfig>\n`);
  try {
    renameSync(mine, unpacked);
  } catch (error) {
    rmSync(mine, { recursive: true, force: true });
    if (!existsSync(unpacked)) throw error;
  }
}

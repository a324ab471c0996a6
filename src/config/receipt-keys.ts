import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder, writeWhole } from "../lib/files/durable-files.ts";
import { usualDataDir } from "./data-dir.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A public key of a server, as its `/.well-known/jwks.json` says it. */
interface KeptKey {
  kid?: string;
  crv?: string;
  x?: string;
}

/** The public keys with which servers sign receipts, kept on this computer. */
interface KeptKeys {
  /** Returns the keys of a server that were last kept; none where it is not known. */
  of(url: string): readonly KeptKey[];
  /** Keeps these in place of the keys of a server; where nothing can be written, it keeps none. */
  keep(url: string, keys: readonly KeptKey[]): Promise<void>;
}

const FILE = "receipt-keys.json";
/** For its owner alone. */
const PRIVATE = 0o700;
const MOST_SERVERS = 50;
const MOST_BYTES = 1_000_000;

/** Returns the keys in the file beside the record of connected agents. */
export function openKeptKeys(env: Environment): KeptKeys {
  const folder = usualDataDir(env);
  const path = folder === null ? null : join(folder, FILE);
  return {
    of(url) {
      const keys = path === null ? undefined : read(path)[url];
      return Array.isArray(keys) ? keys.filter(isKey) : [];
    },
    async keep(url, keys) {
      if (path === null) return;
      const { [url]: _, ...others } = read(path);
      const servers = [...Object.entries(others), [url, keys]].slice(-MOST_SERVERS);
      try {
        makeFolder(dirname(path), PRIVATE);
        await writeWhole(path, `${JSON.stringify(Object.fromEntries(servers))}\n`);
      } catch {
        // The keys are asked for again the next time.
      }
    },
  };
}

const isKey = (value: unknown): value is KeptKey => typeof value === "object" && value !== null;

/** Returns what is kept; nothing where the file is missing or damaged, because the keys can be asked for again. */
function read(path: string): Record<string, unknown> {
  try {
    // The read of a pipe or a device would never end.
    const file = statSync(path);
    if (!file.isFile() || file.size > MOST_BYTES) return {};
    return Object(JSON.parse(readFileSync(path, "utf8"))) as Record<string, unknown>;
  } catch {
    return {};
  }
}

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { newKey } from "@parley/sdk/idempotency-key";
import { People } from "@parley/sdk/people";
import { loadConfig } from "../../config/config.ts";
import { makeFolder, writeWhole } from "../../lib/files/durable-files.ts";
import { readKeyText } from "../../lib/secrets/key-text.ts";
import type { Io } from "../command.ts";
import { ownKey } from "../server-client.ts";

const FILE = "participants.json";

/** How this computer's user is known to one server. */
interface Credential {
  /** Made before the first request, so that one whose reply was lost is not taken for another person's. */
  fingerprint: string;
  token?: string;
}

/** Somebody who answers, and how they stay the same one. */
export interface ParticipantSession {
  people: People;
  /** Writes the credential that the server issued to disk, for the next run. */
  keep(): Promise<void>;
}

/**
 * Returns whoever answers here: the person of the answer key in `PARLEY_KEY`, else the participant of former runs.
 *
 * A participant's credential stands in `participants.json` in the data directory, which only its owner reads, by the
 * address of the server: one server never sees what another has issued.
 *
 * @throws {Error} a sentence, when the key is for something else or the file cannot be used
 */
export async function openParticipantSession(
  url: string,
  dataDir: string | undefined,
  io: Io,
): Promise<ParticipantSession> {
  const common = { url, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone };
  const key = ownKey(url, io.env);
  if (key) {
    const read = readKeyText(key);
    if (read.kind === "key" && read.scope !== "answer") {
      throw new Error(
        `PARLEY_KEY is a key of scope ${read.scope}, and who asks never answers; unset it, or set one of scope answer.`,
      );
    }
    return { people: new People({ ...common, key }), keep: () => Promise.resolve() };
  }

  const path = join(loadConfig({ flags: { "data-dir": dataDir }, env: io.env }).dataDir, FILE);
  const known = readCredentials(path)[url];
  const credential = known ?? { fingerprint: newKey() };
  if (!known) await save(path, url, credential);
  const { fingerprint, token } = credential;
  const people = new People({ ...common, fingerprint, ...(token !== undefined && { participantToken: token }) });
  return {
    people,
    async keep() {
      const { participantToken } = people;
      if (participantToken === undefined || participantToken === credential.token) return;
      credential.token = participantToken;
      await save(path, url, credential);
    },
  };
}

function readCredentials(path: string): Record<string, Credential> {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, Credential>;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw new Error(`${path} cannot be read; without it you are a new participant: ${String(error)}`, { cause: error });
  }
}

/** The file is whole at every moment, its owner's alone, and on disk. */
async function save(path: string, url: string, credential: Credential): Promise<void> {
  const text = `${JSON.stringify({ ...readCredentials(path), [url]: credential }, null, 2)}\n`;
  try {
    makeFolder(dirname(path), 0o700);
    await writeWhole(path, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`who you are cannot be kept: ${why}. Name a folder of yours with --data-dir.`, { cause: error });
  }
}

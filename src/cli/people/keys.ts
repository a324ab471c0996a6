import { parseArgs } from "node:util";
import { localTime } from "../../lib/local-time.ts";
import { SCOPES, type Scope } from "../../lib/secrets/key-text.ts";
import { parseDurationMs } from "../../lib/duration.ts";
import { printable, printableJson } from "../../lib/printable.ts";
import { createKey } from "../../access/create-key.ts";
import { listKeys } from "../../access/list-keys.ts";
import { revokeKey } from "../../access/revoke-key.ts";
import { COMMAND_LINE, STORE_OPTIONS, withStore } from "../command-store.ts";
import { type Command, EXIT, onlyArgument, STORE_FLAGS, WrongUsage } from "../command.ts";
import { table } from "../table.ts";

export const keysCreate: Command = {
  usage: "NAME --scope SCOPE [--person ID] [--expires 90d] [--self-respond] [--channel ID] [--repo NAME]...",
  flags: {
    "--scope SCOPE": `what it may do: ${SCOPES.join(", ")}`,
    "--person ID": "whose it is, by the number of parley people list; an answer key then speaks for that person",
    "--expires TIME": "how long it is good for, such as 12h or 90d; left out, until it is revoked",
    "--self-respond": "an agent key that may answer what it asked itself",
    "--channel ID":
      "whom an agent's requests ask that name nobody: a human's id, or a name of a2h.channels or people.groups",
    "--repo NAME": "a repository that an assign key is good for; may be repeated; left out, it is good for all",
    ...STORE_FLAGS,
  },
  choices: { "--scope": SCOPES },
  example: "export PARLEY_KEY=$(parley keys create build-bot --scope agent)",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...STORE_OPTIONS,
        scope: { type: "string" },
        person: { type: "string" },
        expires: { type: "string" },
        "self-respond": { type: "boolean" },
        channel: { type: "string" },
        repo: { type: "string", multiple: true },
      },
    });
    const name = onlyArgument(positionals, "NAME");
    const scope = SCOPES.find((known): known is Scope => known === values.scope);
    if (!scope) throw new WrongUsage(`--scope must be one of ${SCOPES.join(", ")}`);
    const expiresInMs = values.expires === undefined ? undefined : parseDurationMs(values.expires);
    if (expiresInMs === null || expiresInMs === 0) throw new WrongUsage("--expires must be a time such as 12h or 90d");

    const { person, channel, repo: repos } = values;
    const input = { name, scope, person, channel, repos, expiresInMs, selfRespond: values["self-respond"] };
    const { text, key } = await withStore(values, io, (ctx) => createKey(ctx, input, COMMAND_LINE));
    io.out(text);
    const until = key.expiresAt === null ? "" : ` until ${localTime(key.expiresAt)}`;
    io.tell(`${key.id} is good for ${key.scope}:${key.name}${until}. It cannot be shown again.`);
    return EXIT.done;
  },
};

export const keysList: Command = {
  usage: "[--json]",
  flags: { "--json": "print JSON", ...STORE_FLAGS },
  example: "parley keys list",
  async run(argv, io) {
    const { values } = parseArgs({ args: [...argv], options: { ...STORE_OPTIONS, json: { type: "boolean" } } });
    const keys = await withStore(values, io, (ctx) => listKeys(ctx));
    if (values.json) {
      const wire = keys.map((key) => ({
        id: key.id,
        name: key.name,
        scope: key.scope,
        person: key.person,
        self_respond: key.selfRespond,
        channel: key.channel,
        conversation: key.conversation,
        repos: key.repos,
        created_at: timeText(key.createdAt),
        expires_at: key.expiresAt === null ? null : timeText(key.expiresAt),
        revoked_at: key.revokedAt === null ? null : timeText(key.revokedAt),
      }));
      io.out(printableJson(JSON.stringify(wire)));
      return EXIT.done;
    }
    const rows = keys.map((key) => [
      key.id,
      key.scope,
      printable(key.name),
      key.person ?? "-",
      localTime(key.createdAt),
      key.revokedAt !== null
        ? `revoked ${localTime(key.revokedAt)}`
        : key.expiresAt !== null
          ? `until ${localTime(key.expiresAt)}`
          : "good",
    ]);
    for (const line of table(["KEY", "SCOPE", "NAME", "PERSON", "MADE", "STATE"], rows)) io.out(line);
    return EXIT.done;
  },
};

export const keysRevoke: Command = {
  usage: "ID",
  flags: { ...STORE_FLAGS },
  example: "parley keys revoke key_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: STORE_OPTIONS });
    const id = onlyArgument(positionals, "ID");
    const key = await withStore(values, io, (ctx) => revokeKey(ctx, id, COMMAND_LINE));
    io.tell(`${key.id} (${key.scope}:${key.name}) is revoked.`);
    return EXIT.done;
  },
};

const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

import { localTime } from "../../lib/local-time.ts";
import { SCOPES } from "../../lib/secrets/key-text.ts";
import { printable } from "../../lib/printable.ts";
import { LONGEST_KEY_LIFE_MS, SHORTEST_KEY_LIFE_MS } from "../../access/model/key-life.ts";
import { createKey } from "../../access/create-key.ts";
import { listKeys } from "../../access/list-keys.ts";
import { revokeKey } from "../../access/revoke-key.ts";
import { COMMAND_LINE, withStore } from "../command-store.ts";
import { command, EXIT, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { print, table, utcText } from "../print.ts";
import { timeWithin } from "../values.ts";

export const keysCreate = command({
  takes: {
    NAME: "",
    "--scope SCOPE": { help: `what it may do: ${SCOPES.join(", ")}`, choices: SCOPES, required: true },
    "--person ID": "whose it is, by the number of parley people list; an answer key then speaks for that person",
    "--expires TIME": {
      help: "how long it is good for, such as 12h or 90d; left out, until it is revoked",
      read: timeWithin(SHORTEST_KEY_LIFE_MS, LONGEST_KEY_LIFE_MS),
    },
    "--self-respond": "an agent key that may answer what it asked itself",
    "--channel ID":
      "whom an agent's requests ask that name nobody: a human's id, or a name of a2h.channels or people.groups",
    "--repo NAME...": "a repository that an assign key is good for; may be repeated; left out, it is good for all",
    ...STORE_FLAGS,
  },
  example: "export PARLEY_KEY=$(parley keys create build-bot --scope agent)",
  async run({ name, scope, person, channel, repo: repos, expires: expiresInMs, selfRespond, ...place }, io) {
    const input = { name, scope, person, channel, repos, expiresInMs, selfRespond };
    const { text, key } = await withStore(place, io, (ctx) => createKey(ctx, input, COMMAND_LINE), { mayBegin: true });
    io.out(text);
    const until = key.expiresAt === null ? "" : ` until ${localTime(key.expiresAt)}`;
    io.tell(`${key.id} is good for ${key.scope}:${key.name}${until}. It cannot be shown again.`);
    return EXIT.done;
  },
});

export const keysList = command({
  takes: { ...JSON_FLAG, ...STORE_FLAGS },
  example: "parley keys list",
  async run({ json, ...place }, io) {
    const keys = await withStore(place, io, (ctx) => listKeys(ctx));
    const wire = keys.map((key) => ({
      id: key.id,
      name: key.name,
      scope: key.scope,
      person: key.person,
      self_respond: key.selfRespond,
      channel: key.channel,
      conversation: key.conversation,
      repos: key.repos,
      created_at: utcText(key.createdAt),
      expires_at: utcText(key.expiresAt),
      revoked_at: utcText(key.revokedAt),
    }));
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
    return print(json, wire, table(["KEY", "SCOPE", "NAME", "PERSON", "MADE", "STATE"], rows), io);
  },
});

export const keysRevoke = command({
  takes: { ID: "", ...STORE_FLAGS },
  example: "parley keys revoke key_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
  async run({ id, ...place }, io) {
    const key = await withStore(place, io, (ctx) => revokeKey(ctx, id, COMMAND_LINE));
    io.tell(`${key.id} (${key.scope}:${key.name}) is revoked.`);
    return EXIT.done;
  },
});

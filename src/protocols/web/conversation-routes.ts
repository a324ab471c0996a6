import { z } from "zod";
import { printable, printableLines } from "../../lib/printable.ts";
import { agentName } from "../../model/ask-view.ts";
import type { EntryPoint } from "../../model/entry-point.ts";
import { titleOf } from "../../model/title.ts";
import { Refusal } from "../../refusals.ts";
import { namePeople } from "../../verbs/name-people.ts";
import {
  beginInInbox,
  goOnInInbox,
  inboxEntries,
  listOwnConversations,
  readOwnConversation,
} from "../../verbs/speak-in-inbox.ts";
import { parseBody } from "../door-body.ts";
import type { Door, DoorContext, FastifyRequest } from "../door.ts";
import { fields, idField, textField } from "../door-fields.ts";
import { signedInPerson } from "../door-principals.ts";
import { wireTime } from "../door-question.ts";
import { listedAsk } from "./inbox-wire.ts";

const words = textField("text", 1, 10_000, { description: "What to say." });
const sent = textField("id", 1, 64, { description: "Of the sender's choosing; the same when it is sent again." });
const Begin = fields({ entry_point: idField("entry_point"), text: words, id: sent });
const More = fields({ text: words, id: sent });

const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const refusals = { 401: Refused, 404: Refused } as const;
const written = { 400: Refused, ...refusals, 403: Refused, 429: Refused } as const;
const Entry = z.object({ name: z.string(), agent: z.string(), about: z.string().nullable() });
const Listed = z.looseObject({ id: z.number(), agent: z.string() });
const List = z.object({ entry_points: z.array(Entry), conversations: z.array(Listed) });

interface OneConversation {
  Params: { id: string };
}

/** Conversations that a signed-in person begins with agents (contract-a2h.md, section 14). */
export function conversationRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx } = door;

  return async (app) => {
    app.addHook("preValidation", async (request) => parseBody(request));

    app.get(
      "/people/me/conversations",
      {
        schema: {
          tags: ["inbox"],
          summary: "Conversations I have begun, and where I may begin one",
          response: { 200: List, 401: Refused },
        },
      },
      async (request) => {
        const { person } = await signedInPerson(door, request);
        const found = await listOwnConversations(ctx, person);
        return {
          entry_points: inboxEntries(ctx).map(entryOf),
          conversations: found.map(({ conversation, words: newest }) => ({
            ...{ id: conversation.number, agent: printable(agentName(conversation.agent)) },
            ...{ title: printable(titleOf(newest)), said_at: wireTime(conversation.saidAt) },
          })),
        };
      },
    );

    app.post(
      "/people/me/conversations",
      {
        config: { takesBody: true },
        schema: {
          tags: ["inbox"],
          summary: "Begin a conversation",
          body: Begin,
          response: { 201: Listed, ...written },
        },
      },
      async (request, reply) => {
        const { person } = await signedInPerson(door, request);
        const { entry_point: entry, text, id } = request.body as z.output<typeof Begin>;
        const number = await beginInInbox(ctx, person, entry, { words: text, id });
        return reply.code(201).send(await whole(person, number));
      },
    );

    app.get<OneConversation>(
      "/people/me/conversations/:id",
      { schema: { tags: ["inbox"], summary: "One conversation", response: { 200: Listed, ...refusals } } },
      async (request) => {
        const { person } = await signedInPerson(door, request);
        return whole(person, numberOf(request));
      },
    );

    app.post<OneConversation>(
      "/people/me/conversations/:id/messages",
      {
        config: { takesBody: true },
        schema: {
          tags: ["inbox"],
          summary: "Say more: the answer to the one question that waits, or else a word to the agent",
          body: More,
          response: { 200: Listed, ...written, 409: Refused },
        },
      },
      async (request) => {
        const { person } = await signedInPerson(door, request);
        const number = numberOf(request);
        const { text, id } = request.body as z.output<typeof More>;
        await goOnInInbox(ctx, person, number, { words: text, id });
        return whole(person, number);
      },
    );

    async function whole(person: string, number: number): Promise<object> {
      const { point, agent, messages, asks, saidAt } = await readOwnConversation(ctx, person, number);
      const deciders = asks.flatMap(({ outcome }) => (outcome?.by?.kind === "person" ? [outcome.by.id] : []));
      const names = await namePeople(ctx, deciders);
      return {
        ...{ id: number, agent: printable(agentName(agent)), said_at: wireTime(saidAt) },
        /** False where the agent takes no more words here. */
        open: point !== undefined,
        messages: messages.map(({ uid, words: text, createdAt, ackedAt }) => ({
          ...{ id: uid, text: printableLines(text).join("\n"), at: wireTime(createdAt) },
          taken: ackedAt !== null,
        })),
        asks: asks.map((ask) => ({ ...listedAsk(ask, names), words: printableLines(ask.words).join("\n") })),
      };
    }
  };
}

function entryOf({ name, agent, about }: EntryPoint): z.output<typeof Entry> {
  return { name, agent: printable(agent), about: about === null ? null : printable(about) };
}

/** What cannot be a number is nobody's conversation. */
function numberOf(request: FastifyRequest<OneConversation>): number {
  const { id } = request.params;
  if (!/^[1-9]\d{0,14}$/.test(id)) throw new Refusal("request_not_found");
  return Number(id);
}

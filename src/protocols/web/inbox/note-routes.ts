import { readNotedRun, sendNote } from "../../../requests/notes/send-note.ts";
import { readersFor, readInInbox } from "../../../requests/read/read-request.ts";
import { AgentNoteBody, WireAgentNotes } from "../../../wire/agent-note.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { agentNotesBody } from "../../http/agent-notes.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";

interface OneAsk {
  Params: { id: string };
}

/** Mounts how the signed-in person sends a note to the agent of an ask. */
export function noteRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;
  app.post<OneAsk>(
    "/people/me/asks/:id/notes",
    {
      config: { takesBody: true },
      schema: {
        tags: ["inbox"],
        summary: "Send a note to the agent of an ask, which reads it at its next turn",
        body: AgentNoteBody,
        response: {
          200: jsonReply(WireAgentNotes),
          400: ErrorBody,
          401: ErrorBody,
          403: ErrorBody,
          404: ErrorBody,
          409: ErrorBody,
        },
      },
    },
    async (http): Promise<WireAgentNotes> => {
      const { person } = await signedInPerson(door, http);
      const request = await readInInbox(ctx, person, http.params.id);
      await sendNote(ctx, { requestId: request.id, person }, (http.body as AgentNoteBody).text);
      const run = await readNotedRun(ctx, ctx.db, request);
      return { notes: run ? await agentNotesBody(ctx, run, person, await readersFor(ctx.db, person)) : [] };
    },
  );
}

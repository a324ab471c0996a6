import { undoPresses } from "../../../requests/decide/undo.ts";
import { readInInbox } from "../../../requests/read/read-request.ts";
import { UndoBody, WireUndone } from "../../../wire/batch.ts";
import { ErrorBody } from "../../../wire/error.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";

/** Mounts how the signed-in person takes back decisions that they pressed in the app a moment ago. */
export function undoRoutes(app: Door, door: DoorContext): void {
  app.post(
    "/people/me/undo",
    {
      config: { takesBody: true },
      schema: {
        tags: ["inbox"],
        summary: "Take back what I pressed and what has not left yet",
        body: UndoBody,
        response: { 200: jsonReply(WireUndone), 400: ErrorBody, 401: ErrorBody, 404: ErrorBody },
      },
    },
    async (http) => undo(door, http),
  );
}

async function undo(door: DoorContext, http: FastifyRequest): Promise<WireUndone> {
  const { ctx } = door;
  const { person } = await signedInPerson(door, http);
  const ids = [...new Set((http.body as UndoBody).asks)];
  for (const id of ids) await readInInbox(ctx, person, id);
  const after = await undoPresses(ctx, { person, requestIds: ids });
  return { asks: after.map(({ request: { id, state }, isUndone }) => ({ id, undone: isUndone, state })) };
}

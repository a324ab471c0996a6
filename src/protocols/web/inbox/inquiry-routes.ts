import { namePeople } from "../../../access/name-people.ts";
import { askBack } from "../../../requests/inbox/inquire.ts";
import { readInInbox } from "../../../requests/read/read-request.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { InquiryBody, WireInquiredAsk } from "../../../wire/inquiry.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";
import { inquiriesBody } from "./wire.ts";

interface OneAsk {
  Params: { id: string };
}

/** Mounts how the signed-in person puts a question to the agent of an ask. */
export function inquiryRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;
  app.post<OneAsk>(
    "/people/me/asks/:id/inquiries",
    {
      config: { takesBody: true },
      schema: {
        tags: ["inbox"],
        summary: "Put a question to the agent of an ask, which stays open",
        body: InquiryBody,
        response: {
          200: jsonReply(WireInquiredAsk),
          400: ErrorBody,
          401: ErrorBody,
          403: ErrorBody,
          404: ErrorBody,
          409: ErrorBody,
        },
      },
    },
    async (http): Promise<WireInquiredAsk> => {
      const { person } = await signedInPerson(door, http);
      const { id: requestId } = await readInInbox(ctx, person, http.params.id);
      const asked = await askBack(ctx, { requestId, person }, (http.body as InquiryBody).text);
      const names = await namePeople(ctx, asked.inquiries?.map((one) => one.person) ?? []);
      return { id: requestId, inquiries: inquiriesBody(asked, names, person) };
    },
  );
}

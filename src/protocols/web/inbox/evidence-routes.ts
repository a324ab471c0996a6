import { readPlanImage } from "../../../requests/plans/read-plan.ts";
import { Refusal } from "../../../refusals.ts";
import { ErrorBody } from "../../../wire/error.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { idNumber } from "../../http/query.ts";
import { signedInPerson } from "../../http/principals.ts";

interface OneItem {
  Params: { id: string; n: string };
}

/** Mounts the images of a plan's evidence, for those who find the plan in their inbox. */
export function evidenceRoutes(app: Door, door: DoorContext): void {
  app.get<OneItem>(
    "/people/me/asks/:id/evidence/:n",
    {
      schema: {
        tags: ["inbox"],
        summary: "An image of a plan's evidence",
        response: { 401: ErrorBody, 404: ErrorBody },
      },
    },
    async (http, reply) => {
      const { person } = await signedInPerson(door, http);
      const { id, n } = http.params;
      const ord = idNumber(n);
      if (ord === null) throw new Refusal("request_not_found");
      const { mediaType, data } = await readPlanImage(door.ctx, person, { requestId: id, ord });
      return reply
        .type(mediaType)
        .header("x-content-type-options", "nosniff")
        .header("content-security-policy", "default-src 'none'")
        .header("cache-control", "no-store")
        .send(Buffer.from(data, "base64"));
    },
  );
}

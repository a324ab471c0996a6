import { findHuman, listIdentities } from "../../access/store/humans.ts";
import type { Queryable } from "../../core/store/db.ts";
import { inForce, isAsked } from "../model/audience.ts";
import type { Context } from "../../context.ts";
import { Refusal } from "../../refusals.ts";
import type { DecidedBy, Decider, Request, RequestForm, Via } from "../model/request.ts";

/** Returns an enrolled person as somebody who answers. */
export async function responderOf(on: Queryable, person: string, via: Via): Promise<Decider> {
  const human = await findHuman(on, person);
  return {
    via,
    person: human ? person : null,
    identities: human ? await listIdentities(on, person) : [],
    seesAll: human?.seesAll ?? false,
  };
}

/** True where somebody may decide a request at this time, with the groups as they are now. */
export function mayDecideAt(
  { addressed }: Pick<Context, "addressed">,
  {
    request: { audience, createdAt, form },
    now,
  }: { request: Pick<Request, "audience" | "createdAt"> & { form: Pick<RequestForm, "kind"> }; now: number },
  who: Decider,
): boolean {
  return isAsked(inForce(audience, addressed.groups), who, form.kind, now - createdAt);
}

/** Returns who decides, as decisions name them. @throws {Refusal} `not_asked` for somebody known by nothing */
export function decidedBy(responder: Decider, request: Request): DecidedBy {
  const { via } = responder;
  if (responder.self) return { kind: "agent", id: request.asker, via };
  if (responder.person !== null) return { kind: "person", id: responder.person, via };
  const [identity] = responder.identities;
  if (!identity) throw new Refusal("not_asked");
  return { kind: "address", id: `${identity.kind}:${identity.value}`, via };
}

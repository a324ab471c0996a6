import { trySending } from "./live.ts";
import { setAuthor } from "./outbox.ts";
import { queries } from "./query/query.ts";

/** Makes this person the author of what is written from now on; what they have written before is shown and sent. */
export async function noteAuthor(person: string | null): Promise<void> {
  await setAuthor(person);
  await queries.invalidateQueries({ queryKey: ["written"] });
  void trySending();
}

import { openBoundedThread } from "../../../lib/bounded-thread.ts";
import { ReadyJson } from "../../../lib/json/ready-json.ts";
import type { Request } from "../../../requests/model/request.ts";
import type { LinkForm } from "../links/view.ts";
import { drawnMarkup, type Markup } from "../pages/html.ts";
import { draw, type Drawing, type Drawn } from "./draw.ts";

/**
 * Draws large requests in a thread of its own: a request of a megabyte takes tenths of a second, and others would wait
 * for it. The limits are far above what any permitted request takes.
 */
const thread = openBoundedThread<Drawing, Drawn>(new URL("./draw-worker.ts", import.meta.url), {
  mostCpuMs: 10_000,
  mostHeapMb: 512,
});

/** Drawing so many characters takes a few milliseconds, and the way to the thread as long. */
const LARGE_CHARACTERS = 16_384;

/** Returns the whole of an ask for a page (`askMarkup`). */
export async function drawnAsk(request: Request, ticked?: LinkForm["values"]): Promise<Markup> {
  const size = request.words.length + (request.form.kind === "approval" ? request.form.kwargs.length : 0);
  return drawnMarkup((await drawn({ kind: "ask", request, ticked }, size)).bytes);
}

/** Returns arguments of a call for a page. */
export async function drawnArguments({ wire }: Pick<Request, "wire">, kwargs: string): Promise<Markup> {
  return drawnMarkup((await drawn({ kind: "arguments", request: { wire }, kwargs }, kwargs.length)).bytes);
}

/** Returns arguments of a call for the inbox. */
export async function drawnRows({ wire }: Pick<Request, "wire">, kwargs: string): Promise<ReadyJson> {
  return new ReadyJson((await drawn({ kind: "rows", request: { wire }, kwargs }, kwargs.length)).bytes);
}

/** Returns the evidence of a plan for the inbox; `kwargs` are the arguments of the plan. */
export async function drawnEvidence({ id, wire }: Pick<Request, "id" | "wire">, kwargs: string): Promise<ReadyJson> {
  return new ReadyJson((await drawn({ kind: "evidence", request: { id, wire }, kwargs }, kwargs.length)).bytes);
}

/**
 * Returns arguments of a call as a text for an editor, and its length. Invisible characters are escaped, so that an
 * editor sees them.
 */
export async function drawnForEditor(kwargs: string): Promise<{ text: ReadyJson; characters: number }> {
  const { bytes, characters } = await drawn({ kind: "editor", kwargs }, kwargs.length);
  return { text: new ReadyJson(bytes), characters };
}

async function drawn(drawing: Drawing, characters: number): Promise<Drawn> {
  if (characters <= LARGE_CHARACTERS) return draw(drawing);
  const result = await thread.work(drawing);
  if (!result) throw new Error(`a view of ${characters} characters took too long`);
  return result;
}

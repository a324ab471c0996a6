import { Parley, ParleyError } from "@parley/sdk";

/** The results that every runtime must have. */
export const EXPECTED = {
  seen: [0, 0],
  status: "CLOSED",
  summary: { Send: 2, Submit: 0 },
  refused: "QUESTION_NOT_FOUND",
  stopped: "enough",
  cancelled: true,
};

/** Asks, hears each answer, waits, is refused, gives up and cancels, with nothing but what every runtime has. */
export async function tryOut(url: string): Promise<typeof EXPECTED> {
  const parley = new Parley({ url });
  const options = ["Send", "Submit"];
  const { question_id: id } = await parley.ask({ prompt: "Which label is clearer?", options, min_responses: 2 });
  const seen: number[] = [];
  for await (const { selected_option: chosen = -1 } of parley.responses(id)) seen.push(chosen);
  const { status, summary } = await parley.wait(id);
  const refused = await parley.check("q_unknown").then(
    ({ status: found }) => found,
    (error: unknown) => (error instanceof ParleyError ? error.code : String(error)),
  );

  const { question_id: other } = await parley.ask({ prompt: "Is anybody there today?", options });
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error("enough")), 50);
  const stopped = await parley.wait(other, { signal: stop.signal }).then(
    ({ status: found }) => found,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const { cancelled } = await parley.cancel(other);
  return { seen, status, summary, refused, stopped, cancelled } as typeof EXPECTED;
}

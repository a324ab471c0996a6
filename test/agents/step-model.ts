import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dialectOf, type Json } from "./dialects.ts";

/** The model's next step: it calls a tool, ends with a text, fails, or never replies again. */
export type Step =
  | { call: string; input: Json; namespace?: string }
  /** Two calls of one turn, in the form of OpenAI Chat alone. */
  | { call: string; input: Json; beside: { call: string; input: Json } }
  /** A tool that takes text and not JSON. */
  | { call: string; text: string }
  | { say: string }
  | { status: number }
  | { hang: true };

/** A model on loopback that plays a list of steps. */
export interface StepModel extends AsyncDisposable {
  url: string;
  /** The results of tools, as the newest request contains them. */
  results(): string[];
  /** The newest request of the conversation. */
  latest(): Json;
  /** The key it came with, where that is in the usual header. */
  latestKey(): string | undefined;
}

/**
 * Starts a model that speaks the forms of Anthropic Messages, OpenAI Responses, OpenAI Chat and Gemini. Each request gets
 * the step whose number is that of the tool results in it, so that a request that is repeated, or made after a resume,
 * gets the same; after the last step the model is done. In place of a list, a function says what to do after these
 * results. Requests without tools, such as for a title, get a word.
 */
export async function stepModel(
  steps: readonly Step[] | ((results: readonly string[], asked: Json) => Step),
): Promise<StepModel> {
  let [results, latest, key]: [string[], Json, string | undefined] = [[], {}, undefined];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
    const path = request.url ?? "/";
    const dialect = request.method === "POST" ? dialectOf(path) : undefined;
    if (!dialect) return void response.writeHead(404, { "content-type": "application/json" }).end("{}");
    const asked = JSON.parse(text) as Json;
    if (!dialect.offersTools(asked)) return dialect.reply(response, asked, path, { say: dialect.aside });
    [results, latest, key] = [dialect.results(asked), asked, request.headers.authorization];
    const step = typeof steps === "function" ? steps(results, asked) : (steps[results.length] ?? { say: "Done." });
    if ("hang" in step) return;
    if ("status" in step) {
      response.writeHead(step.status, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ error: { type: "api_error", message: "The model is out." } }));
    }
    dialect.reply(response, asked, path, step);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    results: () => results,
    latest: () => latest,
    latestKey: () => key,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

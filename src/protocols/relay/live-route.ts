import type { MinuteFigures } from "../../asks/model/figures.ts";
import { followRelayNews, openHourFigures, type RelayNews } from "../../asks/read/all-asks.ts";
import { ErrorBody } from "../../wire/error.ts";
import type { WireHourFigures } from "../../wire/relay/admin-view.ts";
import { sendToAdmin } from "../http/admin-stream.ts";
import type { Door, DoorContext } from "../http/door.ts";
import { administrator } from "../http/principals.ts";
import { formerAskLine, formerJobLine } from "./former-routes.ts";
import { askLineWire, jobLineWire } from "./print.ts";

/** Mounts the stream of what executors ask and work on, for admins. Its lines have the former names. */
export function liveRoute(door: DoorContext): (app: Door) => Promise<void> {
  const figures = openHourFigures(door.ctx);
  const response = { 401: ErrorBody, 403: ErrorBody, 429: ErrorBody };

  return async (app) => {
    app.get(
      "/admin/live",
      {
        schema: {
          tags: ["administration"],
          summary: "The newest asks and jobs and the last hour's figures, whenever they change (SSE)",
          response,
        },
      },
      async (http, reply) => {
        const by = await administrator(door, http);
        return sendToAdmin(door, { http, reply, by }, async function* (signal) {
          for await (const news of followRelayNews(door.ctx, figures, signal)) {
            yield { event: news.kind, data: JSON.stringify(newsWire(news)) };
          }
        });
      },
    );
  };
}

function newsWire(news: RelayNews): object {
  if (news.kind === "asks") return { asks: news.asks.map((line) => formerAskLine(askLineWire(line))) };
  if (news.kind === "jobs") return { jobs: news.jobs.map((line) => formerJobLine(jobLineWire(line))) };
  const { minutes, pending } = news.figures;
  return { minutes: minutes.map(minuteWire), pending } satisfies WireHourFigures;
}

function minuteWire({ at, stages, by, p95Ms }: MinuteFigures): WireHourFigures["minutes"][number] {
  return { at: new Date(at).toISOString(), stages, by, p95_ms: p95Ms };
}

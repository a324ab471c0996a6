import { parseBody } from "../http/body.ts";
import type { Door, DoorContext } from "../http/door.ts";
import { agentEvents } from "./agent-events.ts";
import { agentQuestions, knowAgent } from "./agent-questions.ts";
import { knowHuman } from "./human-access.ts";
import { humanEvents } from "./human-events.ts";
import { humanPush } from "./human-push.ts";
import { humanQuestions } from "./human-questions.ts";
import { humanResponses } from "./human-responses.ts";
import { scoreRoutes } from "./score-routes.ts";

/** The Ask-a-Human door: `/agent/*` for programs, `/human/*` for the crowd (docs/spec/ask-a-human.md). */
export function askAHuman(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    await app.register(async (agents) => {
      agents.addHook("preValidation", async (http) => {
        await knowAgent(door, http);
        parseBody(http);
      });
      agentQuestions(agents, door);
      agentEvents(agents, door);
    });
    await app.register(async (people) => {
      people.addHook("preValidation", async (http) => {
        await knowHuman(door, http);
        parseBody(http);
      });
      humanQuestions(people, door);
      humanResponses(people, door);
      humanPush(people, door);
      scoreRoutes(people, door);
      humanEvents(people, door);
    });
  };
}

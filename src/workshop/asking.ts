import type { Clock } from "../lib/clock.ts";
import type { PermissionDecision, QuestionAnswer } from "./agents/agent.ts";
import type { AttemptClient } from "./attempt-client.ts";
import type { SupervisorLine } from "./supervisor/lines.ts";
import type { Link } from "./supervisor/start.ts";

const ASK_AGAIN_MS = 2000;
/** A server that refuses so often to take a request back will not take it back. */
const MOST_TRIES = 100;

type Request = Extract<SupervisorLine, { ref: string; wish: unknown }>;
type AskingClient = Pick<AttemptClient, "permission" | "question" | "withdraw" | "waiting" | "note">;

/** Sends the agent's requests to people, and their decisions to the agent; reports whether it waits for anybody. */
export class Asking {
  readonly #link: Pick<Link, "decide">;
  readonly #client: AskingClient;
  readonly #leave: AbortSignal;
  readonly #clock: Clock;
  readonly #open = new Map<string, Request>();
  readonly #asked = new Set<string>();
  readonly #withdrawn = new Set<string>();
  #calls = 0;
  #isWaiting: boolean | null = null;

  constructor(
    link: Pick<Link, "decide">,
    client: AskingClient,
    { leave, clock }: { leave: AbortSignal; clock: Clock },
  ) {
    this.#link = link;
    this.#client = client;
    this.#leave = leave;
    this.#clock = clock;
  }

  /** Takes note of a line of an earlier connection. */
  remember(line: SupervisorLine): void {
    if (line.type === "permission" || line.type === "question") this.#open.set(line.ref, line);
    else if (line.type === "decided") this.#open.delete(line.ref);
    else if (line.type === "withdrawn") {
      this.#open.delete(line.ref);
      this.#withdrawn.add(line.ref);
    } else if (line.type === "waiting") this.#calls = line.calls;
    else if (line.type === "started") {
      // The requests of an earlier run are no longer waited for.
      this.#open.clear();
      this.#withdrawn.clear();
      this.#calls = 0;
    }
  }

  /** Every line of before is remembered: what is open is asked, and what was withdrawn is taken back from people. */
  async rememberedAll(): Promise<void> {
    await this.#settle();
    for (const line of this.#open.values()) this.#put(line);
    for (const ref of this.#withdrawn) void this.#takeBack(ref);
  }

  async accept(line: SupervisorLine): Promise<void> {
    this.remember(line);
    if (line.type === "permission" || line.type === "question") this.#put(line);
    else if (line.type === "withdrawn") void this.#takeBack(line.ref);
    await this.#settle();
  }

  /** Reports whether the agent waits for people. While one of its own requests is open, the server knows it. */
  async #settle(): Promise<void> {
    const waits = this.#calls > 0;
    if (!waits && this.#open.size > 0) this.#isWaiting = null;
    else if (waits !== this.#isWaiting) {
      this.#isWaiting = waits;
      await this.#client.waiting(waits);
    }
  }

  async #settleAnew(): Promise<void> {
    this.#isWaiting = null;
    await this.#settle();
  }

  /** Takes a request back from people; again where that failed, or where it was just on its way to them. */
  async #takeBack(ref: string): Promise<void> {
    for (let tries = 1; !this.#leave.aborted; tries += 1) {
      const isTaken = await this.#client.withdraw(ref).then(
        () => true,
        () => false,
      );
      if (!this.#asked.has(ref) && (isTaken || tries >= MOST_TRIES)) return;
      await this.#clock.sleep(ASK_AGAIN_MS, this.#leave);
    }
  }

  #put(line: Request): void {
    if (this.#asked.has(line.ref)) return;
    this.#asked.add(line.ref);
    const { ref } = line;
    const [client, leave] = [this.#client, this.#leave];
    const decided: Promise<PermissionDecision | QuestionAnswer> =
      line.type === "permission" ? client.permission(ref, line.wish, leave) : client.question(ref, line.wish, leave);
    decided
      .then(async (decision) => {
        if (leave.aborted) return;
        if (this.#withdrawn.has(ref)) this.#asked.delete(ref);
        // The agent withdrew it meanwhile, perhaps before anybody was asked.
        if (!this.#open.has(ref)) await this.#settleAnew();
        this.#link.decide(ref, decision);
        await client.note([{ type: "answer", data: { ref, ...decision } }]);
      })
      .catch(async () => {
        this.#asked.delete(ref);
        // The request may succeed a moment later: there were too many requests, or the store was away.
        await this.#clock.sleep(ASK_AGAIN_MS, leave);
        if (!leave.aborted && this.#open.has(ref)) this.#put(line);
      });
  }
}

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sweep } from "../../../src/server/loops/sweep.ts";
import { begun, DAY, fresh, HOUR, ROOMY, sharedWorld, until, wireNow } from "../../support/contract.ts";
import { somebody } from "../../support/deciders.ts";
import {
  askByTool,
  legacy,
  modern,
  modernRequest,
  SERVER_KEY,
  stream,
  TASKS,
  tool,
  type McpStream,
} from "../../support/mcp.ts";
import { DATABASES, openWorld, type Reply, type World, onOneDatabase } from "../../support/world.ts";

const WAIT = "wait_for_human_responses";
const SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId";
const UNKNOWN = { code: -32602, message: "Task not found" };
const question = () => ({ question: fresh("Which task is this about?") });
const as = (name: string) => ({ headers: { "x-agent-id": name } });
const onTask = (
  world: World,
  method: string,
  taskId: unknown,
  more: { headers?: Record<string, string> } = {},
): Promise<Reply> => modern(world, `tasks/${method}`, { taskId }, { capabilities: TASKS, ...more });

/** Waits by a request that declares tasks; moves the clock over the moment for which it is held. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read results of every shape
async function waitAsTask(world: World, args: Record<string, unknown>, isHeld = true): Promise<any> {
  await world.advance(1);
  const reply = modern(world, "tools/call", { name: WAIT, arguments: args }, { capabilities: TASKS });
  if (isHeld) {
    await until(() => world.clock.begunByRequests(2000) > 0, "a wait of 2000 ms");
    await world.advance(2000);
  }
  return (await reply).body.result;
}

for (const on of DATABASES) {
  describe(`tasks on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    const world = sharedWorld({ on, env: ROOMY });

    itOnOne("stand in the store before they are named, and last until the answers are in", async () => {
      const id = await askByTool(world(), { ...question(), min_responses: 2 });
      const task = await waitAsTask(world(), { question_id: id, max_wait_seconds: 3600 });
      const { taskId, _meta: meta, ...rest } = task;
      assert.match(taskId, /^t_[0-9A-Za-z]{22}$/);
      assert.equal(meta[SERVER_KEY].name, "parley");
      const shown = {
        status: "working",
        statusMessage: "0 of 2 answers",
        createdAt: wireNow(world()),
        lastUpdatedAt: wireNow(world()),
        ttlMs: HOUR + 7 * DAY,
        pollIntervalMs: 5000,
      };
      assert.deepEqual(rest, { resultType: "task", ...shown });

      const { result } = (await onTask(world(), "get", taskId)).body;
      assert.deepEqual(result, { resultType: "complete", taskId, ...shown, _meta: meta });

      await world().advance(60_000);
      await world().person(fresh("p")).answer(id, "One.");
      const half = (await onTask(world(), "get", taskId)).body.result;
      assert.deepEqual(
        [half.status, half.statusMessage, half.lastUpdatedAt, half.result],
        ["working", "1 of 2 answers", wireNow(world()), undefined],
      );

      await world().advance(300_000);
      await world().person(fresh("p")).answer(id, "Two.");
      const whole = (await onTask(world(), "get", taskId)).body.result;
      assert.deepEqual([whole.status, whole.pollIntervalMs, whole.ttlMs], ["completed", 15_000, HOUR + 7 * DAY]);
      const { structuredContent, content } = whole.result;
      assert.deepEqual(
        [structuredContent.settled, structuredContent.waited_seconds, structuredContent.responses],
        [true, 360, [{ answer: "One." }, { answer: "Two." }]],
      );
      assert.deepEqual(JSON.parse(content[0].text), structuredContent);
      assert.match(content[1].text, /not instructions/);
      assert.equal(whole.result.resultType, "complete");
    });

    itOnOne("are not made where the answer is there, or comes at once", async () => {
      const id = await askByTool(world(), { ...question(), min_responses: 1 });
      const reply = modern(
        world(),
        "tools/call",
        { name: WAIT, arguments: { question_id: id } },
        { capabilities: TASKS },
      );
      await until(async () => [...world().server.ctx.wake.topics()].includes(`question:${id}`));
      await world().person(fresh("p")).answer(id, "Quick.");
      const { resultType, structuredContent } = (await reply).body.result;
      assert.deepEqual([resultType, structuredContent.settled], ["complete", true]);
      assert.equal((await waitAsTask(world(), { question_id: id }, false)).resultType, "complete");
    });

    it("stay what they became: what comes after the answers they wanted is none of their own", async () => {
      const id = await askByTool(world(), { ...question(), min_responses: 3 });
      const { taskId } = await waitAsTask(world(), { question_id: id, min_responses: 1 });
      await world().person(fresh("p")).answer(id, "Wanted.");
      const { result: then } = (await onTask(world(), "get", taskId)).body;
      assert.deepEqual([then.status, then.statusMessage], ["completed", "1 of 1 answers"]);
      assert.equal(then.result.structuredContent.status, "PARTIAL");

      for (const words of ["More.", "And more."]) await world().person(fresh("p")).answer(id, words);
      await onTask(world(), "cancel", taskId);
      assert.deepEqual((await onTask(world(), "get", taskId)).body.result, then);
    });

    itOnOne("are completed by the question's end as well", async () => {
      const ids = [
        await askByTool(world(), question()),
        await askByTool(world(), { ...question(), timeout_seconds: 60 }),
      ];
      const tasks: string[] = [];
      for (const id of ids) tasks.push((await waitAsTask(world(), { question_id: id })).taskId);
      await world()
        .agent("default")
        .cancel(ids[0] ?? "");
      await world().advance(60_000);
      for (const taskId of tasks) {
        const { status, result } = (await onTask(world(), "get", taskId)).body.result;
        assert.deepEqual([status, result.structuredContent.status], ["completed", "EXPIRED"]);
        assert.equal(result.isError, undefined);
      }
    });

    itOnOne("end when they are cancelled, and the question does not", async () => {
      const id = await askByTool(world(), { ...question(), min_responses: 5 });
      const { taskId } = await waitAsTask(world(), { question_id: id });
      const { body } = await onTask(world(), "cancel", taskId);
      assert.equal(body.result.resultType, "complete");
      assert.deepEqual(Object.keys(body.result), ["resultType", "_meta"]);
      await onTask(world(), "cancel", taskId);
      assert.equal((await onTask(world(), "get", taskId)).body.result.status, "cancelled");

      assert.equal((await world().agent("default").poll(id)).body.status, "OPEN");
      for (let i = 0; i < 5; i += 1) await world().person(fresh("p")).answer(id, "Still welcome.");
      assert.equal((await onTask(world(), "get", taskId)).body.result.status, "cancelled");
    });

    it("leave one outcome where the last answer and giving up meet", async () => {
      for (let round = 0; round < 5; round += 1) {
        const id = await askByTool(world(), { ...question(), min_responses: 1 });
        const { taskId } = await waitAsTask(world(), { question_id: id });
        await Promise.all([
          onTask(world(), "cancel", taskId),
          world().person(fresh("p")).answer(id, "At the same moment."),
        ]);
        const seen = new Set<string>();
        for (let i = 0; i < 3; i += 1) seen.add((await onTask(world(), "get", taskId)).body.result.status);
        assert.equal(seen.size, 1);
        assert.ok(!seen.has("working"));
      }
    });

    it("are kept, with their question, for as long as they say", async () => {
      await using brief = await openWorld({ on });
      const id = await askByTool(brief, { ...question(), min_responses: 1 });
      const { taskId, ttlMs } = await waitAsTask(brief, { question_id: id });
      await brief.person("bo").answer(id, "Early.");
      await brief.advance(ttlMs - 5000);
      await sweep(brief.server.ctx);
      const { result } = (await onTask(brief, "get", taskId)).body;
      assert.deepEqual(result.result.structuredContent.responses, [{ answer: "Early." }]);
      await brief.advance(5000);
      await sweep(brief.server.ctx);
      assert.deepEqual((await onTask(brief, "get", taskId)).body.error, UNKNOWN);
      assert.equal((await brief.agent("default").poll(id)).status, 404);
    });

    it("outlive the server", async () => {
      await using mortal = await openWorld({ on });
      const id = await askByTool(mortal, { ...question(), min_responses: 1 });
      const { taskId } = await waitAsTask(mortal, { question_id: id });
      await mortal.restart();
      await mortal.person("bo").answer(id, "After the restart.");
      assert.equal((await onTask(mortal, "get", taskId)).body.result.status, "completed");
    });

    itOnOne(
      "of the tools for people have the tool's result, and withdraw the request when they are given up",
      async () => {
        const jane = await somebody(world());
        const asTask = async (name: string, args: object) => {
          await world().advance(1);
          const reply = modern(world(), "tools/call", { name, arguments: args }, { capabilities: TASKS });
          await begun(world(), 2000);
          await world().advance(2000);
          return (await reply).body.result;
        };
        const taskOf = async (method: string, taskId: string) => (await onTask(world(), method, taskId)).body;

        const made = await asTask("request_approval", { fn: "deploy", kwargs: {}, to: jane.number });
        assert.deepEqual(
          [made.resultType, made.status, made.statusMessage, made.ttlMs],
          ["task", "working", "Waiting for a decision", HOUR + 7 * DAY],
        );
        assert.match(made.taskId, /^t_[0-9A-Za-z]{22}$/);
        const working = (await taskOf("get", made.taskId)).result;
        assert.deepEqual([working.resultType, working.status, working.result], ["complete", "working", undefined]);
        await jane.decides({ approved: true });
        const { result: over } = await taskOf("get", made.taskId);
        assert.deepEqual([over.status, over.result.structuredContent.approved], ["completed", true]);
        await taskOf("cancel", made.taskId);
        assert.equal((await taskOf("get", made.taskId)).result.status, "completed");

        const message = fresh("Do you still want this?");
        const given = await asTask("contact_human", { message, to: jane.number });
        const [ask] = await jane.inbox();
        assert.deepEqual((await taskOf("cancel", given.taskId)).result.resultType, "complete");
        assert.equal((await taskOf("get", given.taskId)).result.status, "cancelled");
        assert.equal((await jane.whole(ask?.id ?? "")).body.state, "cancelled");

        const { call_id: id } = (
          await tool(world(), "contact_human", { message: fresh("Still?"), to: jane.number, max_wait_seconds: 0 })
        ).structuredContent;
        const waited = await asTask(WAIT, { question_id: id });
        await taskOf("cancel", waited.taskId);
        assert.equal((await taskOf("get", waited.taskId)).result.status, "cancelled");
        assert.equal((await jane.inbox()).length, 1);
        assert.deepEqual(
          (await modern(world(), "tasks/get", { taskId: waited.taskId }, { capabilities: TASKS, ...as("mallory") }))
            .body.error,
          {
            code: -32602,
            message: "Task not found",
          },
        );

        const listening = await stream(
          world(),
          modernRequest(
            "subscriptions/listen",
            { notifications: { taskIds: [waited.taskId, "t_0"] } },
            { capabilities: TASKS },
          ),
        );
        assert.deepEqual((await listening.message()).params.notifications, { taskIds: [waited.taskId] });
        assert.equal((await listening.message()).params.status, "cancelled");
        assert.equal((await listening.message()).result.resultType, "complete");

        const followed = await asTask(WAIT, { question_id: id });
        const following = await stream(
          world(),
          modernRequest(
            "subscriptions/listen",
            { notifications: { taskIds: [followed.taskId] } },
            { capabilities: TASKS },
          ),
        );
        await following.message();
        assert.equal((await following.message()).params.status, "working");
        await jane.decides({ text: "Yes." });
        const { params: told } = await following.message();
        assert.deepEqual([told.status, told.result.structuredContent.response], ["completed", "Yes."]);
        assert.ok((await following.message()).result);
      },
    );
  });
}

describe("the methods of tasks", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });

  it("are for clients that declare them, and what else they declare is no matter", async () => {
    const requiredCapabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
      const { status, body } = await modern(world(), method, { taskId: "t_0" }, { capabilities: { elicitation: {} } });
      assert.deepEqual([status, body.error.code, body.error.data], [400, -32021, { requiredCapabilities }], method);
    }
    const listening = await modern(world(), "subscriptions/listen", { notifications: { taskIds: [] } });
    assert.deepEqual([listening.status, listening.body.error.code], [400, -32021]);
    const id = await askByTool(world(), question());
    const args = { question_id: id, max_wait_seconds: 0 };
    const plain = await modern(world(), "tools/call", { name: WAIT, arguments: args });
    assert.equal(plain.body.result.resultType, "complete");
    assert.equal((await legacy(world(), "tasks/get", { taskId: "t_0" })).body.error.code, -32601);
  });

  it("know no task of anybody else, and none that is not", async () => {
    const id = await askByTool(world(), question());
    const { taskId } = await waitAsTask(world(), { question_id: id });
    for (const method of ["get", "cancel", "update"]) {
      for (const [task, who] of [
        [taskId, "mallory"],
        ["t_0000000000000000000000", "default"],
        ["../\u0000", "default"],
        [undefined, "default"],
      ] as const) {
        const { status, body } = await onTask(world(), method, task, {
          headers: { ...as(who).headers, "mcp-name": `=?base64?${Buffer.from(task ?? "").toString("base64")}?=` },
        });
        assert.deepEqual([status, body.error], [200, UNKNOWN]);
      }
    }
    assert.equal((await onTask(world(), "get", taskId)).body.result.status, "working");
    const { body } = await modern(
      world(),
      "tasks/update",
      { taskId, inputResponses: { a: {} } },
      { capabilities: TASKS },
    );
    assert.equal(body.result.resultType, "complete");
  });

  it("count a look as one read", async () => {
    await using strict = await openWorld({
      on: "sqlite",
      env: { PARLEY_ASK_A_HUMAN_LIMITS_AGENT_READS_PER_HOUR: "2" },
    });
    const id = await askByTool(strict, question());
    const { taskId } = await waitAsTask(strict, { question_id: id });
    assert.equal((await onTask(strict, "get", taskId)).status, 200);
    const { status, body } = await onTask(strict, "get", taskId);
    assert.deepEqual([status, body.error.code, body.error.data.limit], [200, -32603, 2]);
  });
});

describe("listening for tasks", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });
  const listen = (taskIds: unknown, id: unknown = "s1"): Promise<McpStream> =>
    stream(world(), modernRequest("subscriptions/listen", { notifications: { taskIds } }, { capabilities: TASKS, id }));

  it("hears which tasks are its own, where each stands, every change, and the end", async () => {
    const ids = [await askByTool(world(), { ...question(), min_responses: 2 }), await askByTool(world(), question())];
    const tasks: string[] = [];
    for (const id of ids) tasks.push((await waitAsTask(world(), { question_id: id })).taskId);
    const [answered, cancelled] = tasks;
    const opened = await listen([...tasks, "t_0000000000000000000000", 7]);
    const meta = { [SUBSCRIPTION_KEY]: "s1" };
    assert.deepEqual(await opened.message(), {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { taskIds: tasks }, _meta: meta },
    });
    const heard = async () => {
      const { method, params } = await opened.message();
      assert.equal(method, "notifications/tasks");
      assert.deepEqual(params._meta, meta);
      return [params.taskId, params.status, params.statusMessage];
    };
    assert.deepEqual(await heard(), [answered, "working", "0 of 2 answers"]);
    assert.deepEqual(await heard(), [cancelled, "working", "0 of 1 answers"]);

    await world()
      .person(fresh("p"))
      .answer(ids[0] ?? "", "One.");
    assert.deepEqual(await heard(), [answered, "working", "1 of 2 answers"]);
    await onTask(world(), "cancel", cancelled);
    assert.deepEqual(await heard(), [cancelled, "cancelled", "0 of 1 answers"]);
    await world().advance(10_000);
    assert.deepEqual(await opened.next(), { comment: "still listening" });

    await world()
      .person(fresh("p"))
      .answer(ids[0] ?? "", "Two.");
    const { params } = await opened.message();
    const shown = (await onTask(world(), "get", answered)).body.result;
    assert.deepEqual({ resultType: "complete", ...params, _meta: shown._meta }, shown);
    const { id, result } = await opened.message();
    assert.deepEqual([id, result.resultType, result._meta[SUBSCRIPTION_KEY]], ["s1", "complete", "s1"]);
    assert.equal(await opened.next(), undefined);
  });

  it("is over at once where there is nothing to hear", async () => {
    const opened = await listen(["t_0000000000000000000000"], 3);
    assert.deepEqual((await opened.message()).params.notifications, {});
    assert.equal((await opened.message()).id, 3);
    const { status, body } = await modern(world(), "subscriptions/listen", {}, { capabilities: TASKS });
    assert.deepEqual([status, body.error.code], [200, -32602]);
  });

  it("ends when the server stops", async () => {
    await using mortal = await openWorld({ on: "sqlite" });
    const id = await askByTool(mortal, question());
    const { taskId } = await waitAsTask(mortal, { question_id: id });
    const opened = await stream(
      mortal,
      modernRequest("subscriptions/listen", { notifications: { taskIds: [taskId] } }, { capabilities: TASKS }),
    );
    assert.equal((await opened.message()).method, "notifications/subscriptions/acknowledged");
    assert.equal((await opened.message()).params.status, "working");
    const stopped = mortal.restart();
    assert.equal((await opened.message()).result.resultType, "complete");
    await stopped;
  });
});

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOMY, sharedWorld, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { describeHookedAgent } from "../support/hooked-agent.ts";
import { newFolder, parley } from "../support/program.ts";

const patterns = ["rm -rf dist"];
const tool_input = { patterns, input: { command: "rm -rf dist" } };

describeHookedAgent({
  name: "opencode",
  prompt: { hook_event_name: "permission.asked", session_id: "ses_1", tool_name: "bash", tool_input },
  tool: "bash",
  shown: tool_input,
  allowed: { decision: "allow", reason: "Approved by operator" },
  denied: (reason) => ({ decision: "deny", reason }),
  undecided: (reason) => ({ decision: "ask", reason }),
  failed: { out: /"decision":"deny"/, exit: 2 },
});

interface Asked {
  type: string;
  properties: object;
}
interface Posted {
  url: string;
  path: object;
  body: object;
}
interface Plugin {
  event(sent: { event: Asked }): Promise<void>;
}

/** The other prompts that wait, and the session that has started this one as its subagent. */
interface Surroundings {
  others?: { id: string; sessionID: string }[];
  parentID?: string;
}

/** The part of opencode that its plugins see: what a message holds, and the replies to its prompts. */
function opencodeClient({ others = [], parentID }: Surroundings) {
  const replies: unknown[] = [];
  const part = {
    callID: "call_1",
    state: { status: "running", input: { command: "rm -rf dist", description: "Remove dist" } },
  };
  const info = { agent: "plan", providerID: "local", modelID: "m" };
  const client = {
    _client: {
      get: async () => ({ data: others }),
      post: async (reply: Posted) => ({ response: { ok: replies.push([reply.url, reply.path, reply.body]) > 0 } }),
    },
    session: {
      get: async () => ({ data: { id: "ses_1", parentID } }),
      message: async () => ({ data: { parts: [part], info } }),
      promptAsync: async (prompt: unknown) => void replies.push(prompt),
    },
    postSessionIdPermissionsPermissionId: async (reply: unknown) => void replies.push(reply),
  };
  return { client, replies };
}

describe("the plugin of opencode", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY, at: Date.now() });
  let prompts = 0;

  async function loaded(surroundings: Surroundings = {}) {
    const home = newFolder();
    const { code, err } = await parley(["hook", "install", "opencode", "--url", world().url], { HOME: home });
    assert.equal(code, 0, err);
    const file = join(home, ".config/opencode/plugin/parley.js");
    const module = (await import(pathToFileURL(file).href)) as { Parley(given: object): Promise<Plugin> };
    const { client, replies } = opencodeClient(surroundings);
    const plugin = await module.Parley({ client });
    const id = `per_${(prompts += 1)}`;
    const tool = { messageID: "msg_1", callID: "call_1" };
    const properties = {
      id,
      sessionID: "ses_1",
      permission: "bash",
      patterns,
      metadata: {},
      tool,
    };
    await plugin.event({ event: { type: "permission.asked", properties } });
    return { plugin, replies, id };
  }

  it("gives opencode the decision of people, who see the whole input of the tool", async () => {
    for (const approved of [true, false]) {
      const operator = await decider(world(), "1");
      const { replies, id } = await loaded();
      const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
      const { body } = await operator.whole(ask?.id ?? "");
      assert.match(JSON.stringify(body.arguments), /Remove dist/);
      await operator.decides({ approved, ...(!approved && { comment: "no" }) });
      await until(() => replies.length > 0 || undefined);
      const message = "Rejected by operator: no";
      const refused = ["/permission/{requestID}/reply", { requestID: id }, { reply: "reject", message }];
      const allowed = { path: { id: "ses_1", permissionID: id }, body: { response: "once" } };
      assert.deepEqual(replies, [approved ? allowed : refused]);
    }
  });

  it("tells the model of the same agent why people reject a call with which others end, but no subagent's", async () => {
    const waiting = (sessionID: string) => ({ others: [{ id: "per_x", sessionID }] });
    const told = async (surroundings: Surroundings) => {
      const operator = await decider(world(), "1");
      const { replies } = await loaded(surroundings);
      await operator.decides({ approved: false, comment: "no" });
      await until(() => replies.length > 0 || undefined);
      // The follow-up comes within the same turn of this process.
      for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
      return replies.slice(1) as { path: object; body: { agent: string; model: object; parts: { text: string }[] } }[];
    };
    const [prompt] = await told(waiting("ses_1"));
    assert.deepEqual(prompt?.path, { id: "ses_1" });
    assert.deepEqual([prompt.body.agent, prompt.body.model], ["plan", { providerID: "local", modelID: "m" }]);
    assert.match(
      prompt.body.parts[0]?.text ?? "",
      /^Rejected by operator: no\n\nopencode has refused your other calls/,
    );
    assert.deepEqual(await told(waiting("ses_2")), []);
    assert.deepEqual(await told({ ...waiting("ses_1"), parentID: "ses_0" }), []);
  });

  it("withdraws the request once somebody has decided at the terminal, or interrupted the turn there", async () => {
    const operator = await decider(world(), "1");
    for (const type of ["permission.replied", "session.idle"]) {
      const { plugin, replies, id } = await loaded();
      await until(async () => ((await operator.inbox()).length > 0 ? true : undefined));
      const named = type === "session.idle" ? {} : { requestID: id };
      await plugin.event({ event: { type, properties: { sessionID: "ses_1", ...named } } });
      await until(async () => ((await operator.inbox()).length === 0 ? true : undefined));
      assert.deepEqual(replies, []);
    }
  });

  it("is a file of its own, which goes whole, and takes the place of no other plugin", async () => {
    const home = newFolder();
    const file = join(home, ".config/opencode/plugin/parley.js");
    const run = (deed: string) => parley(["hook", deed, "opencode"], { HOME: home });
    assert.equal((await run("install")).code, 0);
    assert.match((await run("install")).err, /holds it already/);
    assert.equal((await run("uninstall")).code, 0);
    assert.ok(!existsSync(file));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "export const Other = async () => ({});\n");
    assert.match((await run("install")).err, /was left as it is: it holds a plugin that is not Parley's/);
    assert.match((await run("uninstall")).err, /There is no Parley/);
    assert.equal(readFileSync(file, "utf8"), "export const Other = async () => ({});\n");
  });
});

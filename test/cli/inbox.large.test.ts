import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { itAtTerminal, sitDown } from "../support/at-terminal.ts";
import { newFolder, parley, post, type Run, serve, stop } from "../support/program.ts";

const A2H = "/a2h/v1alpha1";
let made = 0;

interface Ended {
  approved?: boolean;
  comment?: string;
  reject_option_name?: string;
  response?: string;
  response_option_name?: string;
  user_info?: { name: string };
}

describe("parley inbox", () => {
  const dataDir = newFolder();
  let server: Run & { url: string };
  let env: Record<string, string> = {};
  before(async () => {
    server = await serve(dataDir);
    const args = ["keys", "create", "terminal", "--scope", "answer", "--person", "1"];
    const key = (await parley(args, { PARLEY_DATA_DIR: dataDir })).out.trim();
    env = { PARLEY_URL: server.url, PARLEY_KEY: key };
  });
  after(() => stop(server));

  /** Asks by A2H and returns its path and Parley's own id. */
  async function asked(kind: "function_calls" | "human_contacts", spec: object): Promise<{ path: string; id: string }> {
    made += 1;
    const reply = await post(server.url, `${A2H}/${kind}`, { run_id: "run_9", call_id: `c${made}`, spec });
    const { status } = (await reply.json()) as { status: { ask_id: string } };
    return { path: `${A2H}/${kind}/c${made}`, id: status.ask_id };
  }
  const refund = (more: object = {}) =>
    asked("function_calls", {
      fn: "issue_refund",
      kwargs: { order: "A-1007", amount: 49.9, note: "Dear\u202e Ana,\nsorry.", user: null },
      reject_options: [{ name: "wrong", title: "Wrong account" }],
      ...more,
    });
  const endOf = async ({ path }: { path: string }): Promise<Ended> =>
    ((await (await fetch(`${server.url}${path}`)).json()) as { status: Ended }).status;

  itAtTerminal("shows the whole call, and approves it only for a yes in so many letters", async () => {
    const call = await refund();
    const desk = sitDown(["inbox"], env);
    await desk.sees("Refund amount 49.9");
    await desk.sees("Which one?");
    desk.types("\n");
    await desk.sees("default (without a key), run run_9 wants to run issue_refund");
    await desk.sees("amount: 49.9");
    await desk.sees('order: "A-1007"');
    await desk.sees("user: null");
    await desk.sees('note: "Dear\\u202e Ana,\\n');
    await desk.sees('sorry."');
    await desk.sees("sha256:");
    await desk.sees("1  Wrong account");
    await desk.sees("If nobody answers in time it counts as rejected.");
    await desk.sees("approve, or reject; or /next, /list, /quit");
    for (const word of ["", "maybe"]) {
      await desk.sees("> ");
      desk.types(`${word}\n`);
      await desk.sees("approve, or reject");
    }
    await desk.sees("> ");
    desk.types("approve\n");
    await desk.sees("A comment for the agent?");
    desk.types("\n");
    await desk.sees("with exactly these arguments?");
    desk.types("\n");
    await desk.sees("Nothing was sent.");
    assert.equal((await endOf(call)).approved, undefined);
    await desk.sees("> ");
    desk.types("approve\n");
    await desk.sees("A comment");
    desk.types("only this once\n");
    await desk.sees("yes approves");
    desk.types("yes\n");
    await desk.sees("Approved by operator.");
    await desk.sees("Nothing waits for you now.");
    assert.equal(await desk.ended, 0);
    const { approved, comment, user_info: user } = await endOf(call);
    assert.deepEqual([approved, comment, user?.name], [true, "only this once", "operator"]);
    assert.ok(!desk.shown().includes("\u202e"));
  });

  itAtTerminal("rejects with a ready-made reason or in words, and goes from one to the next", async () => {
    const calls = [await refund(), await refund({ fn: "ban_user", kwargs: {} })];
    const desk = sitDown(["inbox"], env);
    await desk.sees("Which one? 1-2");
    desk.types("\n");
    await desk.sees("> ");
    desk.types("reject\n");
    await desk.sees("Why? 1-1, or in your words");
    desk.types("1\n");
    await desk.sees("Rejected by operator.");
    await desk.sees("(no arguments)");
    await desk.sees("> ");
    desk.types("no\n");
    await desk.sees("Why?");
    desk.types("/back\n");
    await desk.sees("> ");
    desk.types("no\n");
    await desk.sees("Why?");
    desk.types("not on a Friday\n");
    await desk.sees("Nothing waits for you now.");
    assert.equal(await desk.ended, 0);
    const [first, second] = await Promise.all(calls.map(endOf));
    assert.deepEqual([first?.approved, first?.reject_option_name, first?.comment], [false, "wrong", "Wrong account"]);
    assert.deepEqual([second?.approved, second?.comment], [false, "not on a Friday"]);
  });

  itAtTerminal("answers in words or with an option, and is told when somebody else was faster", async () => {
    const options = [
      { name: "tue", title: "Tuesday" },
      { name: "fri", title: "Friday" },
    ];
    const contact = await asked("human_contacts", {
      msg: "When do we ship?\nThe build is green.",
      response_options: options,
    });
    const desk = sitDown(["inbox", contact.id], env);
    await desk.sees("default (without a key), run run_9 asks:");
    await desk.sees("The build is green.");
    await desk.sees("2  Friday");
    await desk.sees("> ");
    desk.types("2\n");
    await desk.sees('Send "Friday"?');
    desk.types("\n");
    await desk.sees("Answered by operator.");
    assert.equal(await desk.ended, 0);
    assert.equal((await endOf(contact)).response_option_name, "fri");

    const second = await asked("human_contacts", { msg: "Anything else?" });
    const slow = sitDown(["inbox", second.id, "--json"], env);
    await slow.sees("> ");
    slow.types("No, thank you.\n");
    await slow.sees("Send 14 characters?");
    assert.equal((await parley(["inbox", second.id, "--text", "Yes!"], env)).code, 0);
    slow.types("\n");
    await slow.sees("already been answered");
    assert.equal(await slow.ended, 0);
    assert.equal((await endOf(second)).response, "Yes!");
  });

  it("lists, shows and decides without a terminal, and approves only what its digest says was seen", async () => {
    const call = await refund();
    const list = await parley(["inbox", "--json"], env);
    const [listed] = JSON.parse(list.out) as { id: string; kind: string }[];
    assert.deepEqual([list.code, listed?.id, listed?.kind], [0, call.id, "approval"]);
    assert.match((await parley(["inbox"], env)).out, /approve\? +Refund amount 49\.9, order A-1007 +default/);

    const shown = await parley(["inbox", call.id], env);
    assert.match(shown.out, /wants to run issue_refund\n {2}Refund amount 49\.9, order A-1007\n {2}amount: 49\.9\n/);
    const [digest = ""] = /sha256:[0-9a-f]{64}/.exec(shown.out) ?? [];
    const wrong = await parley(["inbox", call.id, "--approve", `sha256:${"0".repeat(64)}`], env);
    assert.deepEqual([wrong.code, wrong.err], [1, "parley: What was shown is not what would run.\n"]);
    const right = await parley(["inbox", call.id, "--approve", digest, "--comment", "seen"], env);
    assert.deepEqual([right.code, right.out, right.err], [0, "Approved by operator.\n", ""]);
    assert.deepEqual((await endOf(call)).comment, "seen");

    const other = await refund();
    const rejected = await parley(["inbox", other.id, "--reject", "--option", "wrong", "--json"], env);
    assert.equal((JSON.parse(rejected.out) as { outcome: { approved: boolean } }).outcome.approved, false);
    const empty = await parley(["inbox"], env);
    assert.deepEqual([empty.code, empty.out, empty.err], [0, "", "Nothing waits for you now.\n"]);
  });

  itAtTerminal("shows all that waits: page by page at a terminal, whole without one", async () => {
    const made = [(await refund({ fn: "drop_table", kwargs: { table: "orders" } })).id];
    for (let i = 0; i < 51; i += 1) made.push((await refund({ fn: `call_${i}`, kwargs: {} })).id);
    assert.match((await parley(["inbox"], env)).out, /approve\? high risk +Drop table orders +default/);
    const { out } = await parley(["inbox", "--json"], env);
    const ids = (JSON.parse(out) as { id: string }[]).map(({ id }) => id);
    assert.deepEqual(ids.toSorted(), made.toSorted());

    const desk = sitDown(["inbox"], env);
    await desk.sees("52 wait for you; these are the first 50.");
    await desk.sees("Which one? 1-50, Enter for the first, /more, /list, /quit: ");
    desk.types("/more\n");
    await desk.sees("51  approve?  Call ");
    await desk.sees("52  approve?  Call ");
    await desk.sees("Which one? 1-52, Enter for the first, /list, /quit: ");
    desk.types("52\n");
    await desk.sees("wants to run call_");
    await desk.sees("> ");
    desk.types("/quit\n");
    assert.equal(await desk.ended, 0);
  });

  it("decides nothing for an agent whose key is its person's too, and says where that person decides it", async () => {
    for (const [name, owner, isTaken] of [
      ["mine", ["--person", "1"], false],
      ["nobodys", [], true],
    ] as const) {
      const args = ["keys", "create", name, "--scope", "agent", ...owner];
      const key = (await parley(args, { PARLEY_DATA_DIR: dataDir })).out.trim();
      const headers = { authorization: `Bearer ${key}` };
      const body = { run_id: "run_1", call_id: `own_${name}`, spec: { fn: "pay", kwargs: { eur: 1 } } };
      const reply = await post(server.url, `${A2H}/function_calls`, body, headers);
      const { status } = (await reply.json()) as { status: { ask_id: string } };
      const { code, err } = await parley(["inbox", status.ask_id, "--reject"], env);
      assert.equal(code, isTaken ? 0 : 1, err);
      if (isTaken) continue;
      assert.match(err, /The key of this agent is yours too/);
      assert.ok(err.includes(`Decide this one where you sign in: ${server.url}/inbox`), err);
    }
  });

  it("says what is wrong in one sentence", async () => {
    const cases: [args: string[], env: Record<string, string>, code: number, says: RegExp][] = [
      [["inbox"], { PARLEY_URL: server.url }, 1, /set PARLEY_KEY to a key of scope answer/],
      [["inbox"], { ...env, PARLEY_KEY: `parley_answer_${"x".repeat(38)}` }, 1, /./],
      [["inbox", "ask_none"], env, 1, /Nothing with this ID is addressed to you/],
      [["inbox"], { ...env, PARLEY_URL: "http://127.0.0.1:9" }, 1, /no server answers at http:\/\/127\.0\.0\.1:9/],
      [["inbox", "--reject"], env, 2, /ID is missing/],
      [["inbox", "x", "--reject", "--approve", "y"], env, 2, /exclude each other/],
      [["inbox", "x", "--option", "y", "--text", "z"], env, 2, /--option and --text exclude each other/],
      [["inbox", "x", "--comment", "y"], env, 2, /--comment goes with/],
      [["inbox", "x", "--value", "{"], env, 2, /must be JSON/],
      [["inbox", "x", "y"], env, 2, /one ID/],
    ];
    const ends = await Promise.all(cases.map(([args, given]) => parley(args, given)));
    ends.forEach(({ code, out, err }, i) => {
      const [args, , expected, says] = cases[i] ?? assert.fail();
      assert.deepEqual([code, out], [expected, ""], args.join(" "));
      assert.match(err, says);
    });
    const agent = (
      await parley(["keys", "create", "bot", "--scope", "agent"], { PARLEY_DATA_DIR: dataDir })
    ).out.trim();
    const { code, err } = await parley(["inbox"], { ...env, PARLEY_KEY: agent });
    assert.equal(code, 1);
    assert.match(err, /key of scope agent, and who asks never answers/);
  });
});

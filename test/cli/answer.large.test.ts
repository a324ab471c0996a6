import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { itAtTerminal, sitDown } from "../support/at-terminal.ts";
import { newFolder, parley, post, type Run, serve, stop } from "../support/program.ts";

const OPTIONS = ["Send", "Submit"];
const HOSTILE = "Is this fine?\u001b[2J\u202e\nsecond line";

interface Stats {
  total_answers: number;
}

async function askOn(url: string, question: Record<string, unknown> = {}): Promise<string> {
  const type = question["options"] ? "multiple_choice" : "text";
  const body = { prompt: "What would you call this?", type, min_responses: 2, ...question };
  const reply = await post(url, "/agent/questions", body);
  return ((await reply.json()) as { question_id: string }).question_id;
}

async function poll(url: string, id: string): Promise<{ responses: object[]; current_responses: number }> {
  return (await (await fetch(`${url}/agent/questions/${id}`)).json()) as {
    responses: object[];
    current_responses: number;
  };
}

const participantIn = (dataDir: string): Record<string, { token: string }> =>
  JSON.parse(readFileSync(join(dataDir, "participants.json"), "utf8")) as Record<string, { token: string }>;

describe("answering without a terminal", () => {
  let server: Run & { url: string };
  before(async () => {
    server = await serve(newFolder());
  });
  after(() => stop(server));
  const somebody = () => ({ PARLEY_URL: server.url, PARLEY_DATA_DIR: newFolder() });

  it("chooses an option by its number and prints the receipt", async () => {
    const id = await askOn(server.url, { options: OPTIONS });
    const { code, out, err } = await parley(["answer", id, "--option", "2", "--confidence", "4"], somebody());
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /^Thank you: 5 points, 5 in all; new badge first_answer(; new badge \w+)*\n$/);
    assert.deepEqual((await poll(server.url, id)).responses, [{ selected_option: 1, confidence: 4 }]);
  });

  it("is the same person in every run, and another one with another data directory", async () => {
    const [first, second] = [await askOn(server.url), await askOn(server.url)];
    const ana = somebody();
    const words = ["--text", "Parley", "--json"];
    assert.equal((await parley(["answer", first, ...words], ana)).code, 0);
    const receipt = JSON.parse((await parley(["answer", second, ...words], ana)).out) as Record<string, unknown>;
    assert.deepEqual([receipt["points_earned"], receipt["total_points"]], [10, 20]);

    const again = await parley(["answer", first, ...words], ana);
    assert.deepEqual([again.code, again.err], [1, "parley: You have already answered this question.\n"]);
    assert.equal((await parley(["answer", first, ...words], somebody())).code, 0);

    const kept = join(ana.PARLEY_DATA_DIR, "participants.json");
    assert.equal(statSync(kept).mode & 0o777, 0o600);
    assert.equal(statSync(ana.PARLEY_DATA_DIR).mode & 0o777, 0o700);
    const stats = await fetch(`${server.url}/human/stats`, {
      headers: { "x-participant-token": participantIn(ana.PARLEY_DATA_DIR)[server.url]?.token ?? "" },
    });
    assert.equal(((await stats.json()) as Stats).total_answers, 2);
  });

  it("shows one server's credential to no other", async () => {
    const other = await serve(newFolder());
    const ana = somebody();
    await parley(["answer", await askOn(server.url), "--text", "Parley"], ana);
    await parley(["answer", await askOn(other.url), "--text", "Parley", "--url", other.url], ana);
    const kept = participantIn(ana.PARLEY_DATA_DIR);
    assert.deepEqual(Object.keys(kept), [server.url, other.url]);
    assert.notEqual(kept[server.url]?.token, kept[other.url]?.token);
    assert.equal(await stop(other), 0);
  });

  it("speaks for the person of an answer key, and refuses a key that asks", async () => {
    const store = { PARLEY_DATA_DIR: newFolder() };
    const closed = await serve(store.PARLEY_DATA_DIR, { PARLEY_OPEN: "false" }, "--host", "0.0.0.0");
    const person = (await parley(["people", "add", "Ana Ruiz"], store)).out.trim();
    const makeKey = async (...flags: string[]) => (await parley(["keys", "create", "k", ...flags], store)).out.trim();
    const agentKey = await makeKey("--scope", "agent");
    const answerKey = await makeKey("--scope", "answer", "--person", person);
    const asked = await post(
      closed.url,
      "/agent/questions",
      { prompt: "What would you call this?", type: "text" },
      { authorization: `Bearer ${agentKey}` },
    );
    const { question_id: id } = (await asked.json()) as { question_id: string };
    const ana = { ...somebody(), PARLEY_URL: closed.url };
    const answer = (key?: string) =>
      parley(["answer", id, "--text", "Parley"], { ...ana, ...(key !== undefined && { PARLEY_KEY: key }) });

    const stranger = await answer();
    assert.equal(stranger.code, 1);
    assert.match(stranger.err, /^parley: this server lets only its own people answer: set PARLEY_KEY .*--scope answer/);
    const asker = await answer(agentKey);
    assert.deepEqual([asker.code, asker.out], [1, ""]);
    assert.match(asker.err, /^parley: PARLEY_KEY is a key of scope agent, and who asks never answers;/);
    assert.equal((await answer(answerKey)).code, 0);
    const stats = await fetch(`${closed.url}/human/stats`, { headers: { authorization: `Bearer ${answerKey}` } });
    assert.equal(((await stats.json()) as Stats).total_answers, 1);
    assert.equal(await stop(closed), 0);
  });

  it("says what is wrong in one sentence, with the right exit code, and sends nothing", async () => {
    const choice = await askOn(server.url, { options: OPTIONS });
    const text = await askOn(server.url);
    const WRONG: readonly [args: string[], code: number, sentence: RegExp][] = [
      [[], 2, /^parley answer: without a terminal, ID and --option or --text say the answer\nusage: /],
      [[choice], 2, /^parley answer: without a terminal/],
      [["--text", "x"], 2, /^parley answer: ID is missing\n/],
      [[choice, "--option", "0"], 2, /^parley answer: --option must be a number from 1 to 2\n/],
      [[choice, "--option", "3"], 2, /^parley answer: --option must be a number from 1 to 2\n/],
      [[choice, "--text", "Send"], 2, /^parley answer: this question has options/],
      [[text, "--option", "1"], 2, /^parley answer: this question has no options/],
      [[text, "--option", "1", "--text", "x"], 2, /exclude each other/],
      [[text, "--text", "x", "--confidence", "6"], 2, /--confidence must be a number from 1 to 5/],
      [[text, "--text", " "], 2, /^parley: --text is required/],
      [["q_unknown", "--text", "x"], 1, /^parley: The requested question does not exist or has expired\.\n$/],
    ];
    for (const [args, code, sentence] of WRONG) {
      const run = await parley(["answer", ...args], somebody());
      assert.match(run.err, sentence);
      assert.deepEqual([run.code, run.out], [code, ""], args.join(" "));
    }
    const counts = await Promise.all([choice, text].map((id) => poll(server.url, id)));
    assert.deepEqual(
      counts.map(({ current_responses }) => current_responses),
      [0, 0],
    );
    const nowhere = await parley(["answer", "q_x", "--text", "x", "--url", "http://127.0.0.1:1"], somebody());
    assert.match(nowhere.err, /^parley: no server answers at http:\/\/127\.0\.0\.1:1;/);
  });
});

describe("answering at a terminal", () => {
  itAtTerminal("lists what waits, takes an option's number, and shows what others said", async () => {
    const server = await serve(newFolder());
    const id = await askOn(server.url, { prompt: "Which label is clearer?", options: OPTIONS });
    await post(server.url, "/human/responses", { question_id: id, selected_option: 0 }, { "x-fingerprint": "bo" });

    const ana = sitDown(["answer"], { PARLEY_URL: server.url, PARLEY_DATA_DIR: newFolder() });
    await ana.sees("1  Which label is clearer?  1       ");
    await ana.sees("Which one? 1-1, Enter for the first, /list, /quit: ");
    ana.types("7\r");
    await ana.sees("There is no question 7.");
    await ana.sees("/quit: ");
    ana.types("1\r");
    await ana.sees("\nWhich label is clearer?\n  1  Send\n  2  Submit\n1 needed, ");
    await ana.sees("\n> ");
    ana.types("3\r");
    await ana.sees("1-2 chooses one");
    await ana.sees("\n> ");
    ana.types("2\r");
    await ana.sees('Send "Submit"? ');
    ana.types("9\r");
    await ana.sees("nothing was sent yet.");
    await ana.sees("/back: ");
    assert.equal((await poll(server.url, id)).current_responses, 1);
    ana.types("5\r");
    await ana.sees("Thank you: 5 points, 5 in all; new badge first_answer");
    await ana.sees("\nSo far (2 of 2):\n  Send      1  █");
    await ana.sees("\n  Submit    1  █");
    await ana.sees("Nobody waits for an answer now.");
    assert.equal(await ana.ended, 0);
    assert.deepEqual((await poll(server.url, id)).responses[1], { selected_option: 1, confidence: 5 });
    assert.equal(await stop(server), 0);
  });

  itAtTerminal(
    "sends a pasted text as one answer, whatever lines it has, and shows nobody's control characters",
    async () => {
      const server = await serve(newFolder());
      const id = await askOn(server.url, { prompt: HOSTILE });
      const ana = sitDown(["answer", id], { PARLEY_URL: server.url, PARLEY_DATA_DIR: newFolder() });
      await ana.sees("Is this fine?\\u001b[2J\\u202e\nsecond line\n");
      await ana.sees("\n> ");
      ana.types("one\r\rtwo");
      await ana.sees("two");
      ana.types("\r");
      await ana.sees("Send 8 characters? ");
      assert.equal((await poll(server.url, id)).current_responses, 0);
      ana.types("/back\r");
      await ana.sees("\n> ");
      ana.types("first\rsecond\r");
      await ana.sees("Send 12 characters? ");
      ana.types("\r");
      await ana.sees("Thank you: 10 points");
      assert.equal(await ana.ended, 0);
      assert.deepEqual((await poll(server.url, id)).responses, [{ answer: "first\nsecond" }]);
      assert.equal(await stop(server), 0);
    },
  );

  itAtTerminal("skips, reports and goes on, and says when a question was answered by others meanwhile", async () => {
    const server = await serve(newFolder());
    const prompts = ["The first question", "The second question", "The third question"];
    const env = { PARLEY_URL: server.url, PARLEY_DATA_DIR: newFolder() };
    for (const [i, prompt] of prompts.entries()) {
      await askOn(server.url, { prompt, min_responses: 1, timeout_seconds: 600 * (i + 1) });
    }
    const ana = sitDown(["answer"], env);
    await ana.sees("/quit: ");
    ana.types("\r");
    await ana.sees("\nThe first question\n");
    await ana.sees("\n> ");
    ana.types("/skip\r");
    await ana.sees("Skipped: it stays out of your feed for a day.\n");
    await ana.sees("\nThe second question\n");
    await ana.sees("\n> ");
    ana.types("/report\r");
    await ana.sees("Why? 1 spam, 2 personal data, ");
    ana.types("4\r");
    await ana.sees("Enter for nothing: ");
    ana.types("Second to what?\r");
    await ana.sees("Reported: it stays out of your feed.\n");
    await ana.sees("\nThe third question\n");
    await ana.sees("\n> ");
    const third = (
      (await (await fetch(`${server.url}/agent/questions?status=OPEN`)).json()) as {
        questions: { question_id: string; prompt: string }[];
      }
    ).questions.find(({ prompt }) => prompt === "The third question");
    await post(
      server.url,
      "/human/responses",
      { question_id: third?.question_id, answer: "Bo" },
      { "x-fingerprint": "bo" },
    );
    ana.types("Ana\r");
    await ana.sees("Send 3 characters? ");
    ana.types("\r");
    await ana.sees("This question no longer accepts answers.\n");
    await ana.sees("Nobody waits for an answer now.\n");
    assert.equal(await ana.ended, 0);
    assert.equal(await stop(server), 0);
  });

  itAtTerminal("keeps the words while the server is away, and sends them once", async () => {
    const dataDir = newFolder();
    const server = await serve(dataDir);
    const id = await askOn(server.url);
    const ana = sitDown(["answer", id], { PARLEY_URL: server.url, PARLEY_DATA_DIR: newFolder() });
    await ana.sees("\n> ");
    ana.types("Parley\r");
    await ana.sees("Send 6 characters? ");
    assert.equal(await stop(server), 0);
    ana.types("3\r");
    await ana.sees("The server could not be reached.\nEnter sends it again; /quit gives it up: ");
    const again = await serve(dataDir, { PARLEY_PORT: new URL(server.url).port }, "--port", new URL(server.url).port);
    ana.types("\r");
    await ana.sees("Thank you: 10 points");
    assert.equal(await ana.ended, 0);
    assert.deepEqual((await poll(again.url, id)).responses, [{ answer: "Parley", confidence: 3 }]);
    assert.equal(await stop(again), 0);
  });

  itAtTerminal("ends with 130 at Ctrl-C and with 0 at Ctrl-D, and has sent nothing", async () => {
    const server = await serve(newFolder());
    const id = await askOn(server.url);
    const env = { PARLEY_URL: server.url, PARLEY_DATA_DIR: newFolder() };
    for (const [keys, code] of [
      ["\u0003", 130],
      ["\u0004", 0],
    ] as const) {
      const ana = sitDown(["answer", id], env);
      await ana.sees("\n> ");
      ana.types(keys);
      assert.equal(await ana.ended, code);
    }
    assert.equal((await poll(server.url, id)).current_responses, 0);
    assert.equal(await stop(server), 0);
  });
});

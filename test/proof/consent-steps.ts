import { TEAM } from "../channels/slack-double.ts";
import type { Reply } from "../support/world.ts";
import type { AskedCall, AskedQuestion, ConsentStory } from "./consent-story.ts";
import { ASKERS_APP, ASKERS_MAILBOX, ASKERS_TOKEN, type MailTokens, type Somebody, tokensIn } from "./consent-world.ts";

const A2H = "/humanlayer/v1";
const CHANNEL = "C0OPS";
const UNENROLLED_MEMBER = "U0GUEST";

type Step = (story: ConsentStory) => Promise<void>;

const mailOf = ({ email, number }: Somebody): object =>
  number === null ? { email: { address: email } } : { human: { id: number } };

/** Who is asked for a call, as its request says it. */
function audienceOf(story: ConsentStory): { channel: object; needs: AskedCall["needs"]; of: readonly Somebody[] } {
  const [ana, bo, cleo] = story.on.people as readonly [Somebody, Somebody, Somebody];
  const own = { slack: { channel_or_user_id: ana.slack, bot_token: ASKERS_TOKEN } };
  return story.dice.pick([
    { channel: mailOf(ana), needs: "any", of: [ana] },
    { channel: mailOf(bo), needs: "any", of: [bo] },
    { channel: mailOf(cleo), needs: "any", of: [cleo] },
    { channel: { all_of: [mailOf(ana), mailOf(bo)] }, needs: "all", of: [ana, bo] },
    { channel: { all_of: [mailOf(ana), { slack: { channel_or_user_id: CHANNEL } }] }, needs: "all", of: [ana, bo] },
    { channel: own, needs: "any", of: [ana] },
  ] as const);
}

const post = (story: ConsentStory, path: string, body: object, by = story.on.agent): Promise<Reply> =>
  story.on.world.call("POST", path, { body, headers: by });

const askCall: Step = async (story) => {
  const { channel, needs, of } = audienceOf(story);
  const id = story.fresh("call");
  const hasStranger = story.dice.chance(0.3);
  const escalation = [{ after_seconds: 30, channel: { email: { address: ASKERS_MAILBOX } } }];
  const reply = await post(story, `${A2H}/function_calls`, {
    run_id: "run",
    call_id: id,
    spec: {
      fn: "wire_money",
      kwargs: { to: id },
      channel,
      timeout_seconds: 86_400,
      ...(hasStranger && { escalation }),
    },
  });
  story.note(`asks ${id} of ${JSON.stringify(channel)}${hasStranger ? ", then of itself" : ""} -> ${reply.status}`);
  const askId = reply.body.status?.ask_id as string | undefined;
  if (reply.status === 200 && askId) story.calls.push({ id, askId, needs, of, agreed: new Set() });
};

const askQuestion: Step = async (story) => {
  const of = story.dice.pick(story.on.people);
  const id = story.fresh("question");
  const last = story.learnt.at(-1) ?? "";
  const ticket = /[\w.+-]{20,60}@parley\.example|dlv_\w+/.exec(last)?.[0];
  const msg = `Lunch at noon?${ticket ? ` (ticket ${ticket})` : ""}`;
  const schema = { type: "object", required: ["amount"], properties: { amount: { type: "number" } } };
  const spec = { msg, channel: mailOf(of), ...(story.dice.chance(0.3) && { response_schema: schema }) };
  const reply = await post(story, `${A2H}/human_contacts`, { run_id: "run", call_id: id, spec });
  story.note(`asks ${id} of ${of.name} -> ${reply.status}`);
  const askId = reply.body.status?.ask_id as string | undefined;
  if (reply.status === 200 && askId) story.questions.push({ id, askId, of, marks: new Set() });
};

/** The asker reads all that it may read. */
const read: Step = async (story) => {
  const headers = story.on.agent;
  for (const [kind, list] of [
    ["function_calls", story.calls],
    ["human_contacts", story.questions],
  ] as const) {
    for (const { id } of list.slice(-6))
      story.learn((await story.on.world.call("GET", `${A2H}/${kind}/${id}`, { headers })).text);
  }
  story.learn((await story.on.world.call("GET", `${A2H}/conversations?all=true`, { headers })).text);
  story.learnOwnMessages();
};

/** The asker tries what it has learnt, as the person whose it is. */
const tryLearnt: Step = async (story) => {
  await read(story);
  const text = story.learnt.join("\n").replaceAll("\\n", "\n");
  const all = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? match[0]))];
  const codes = all(/\b([2-9CDFGHJKMNPQRTVWX]{4})\b/g).slice(-3);
  for (const link of all(/\/r\/[\w-]{43}/g).slice(-3)) {
    for (const code of ["", ...codes]) {
      const words = { text: "asker's words", "field:0": "1000000" };
      const isTaken = await story.decideByLink(link, { choice: "approve", code, ...words });
      story.note(`tries the link ${link.slice(0, 10)} with ${code || "no code"} -> ${isTaken}`);
    }
  }
  const person = story.dice.pick(story.on.people);
  for (const to of all(/ask\+[a-z2-7]{26}@parley\.example/g).slice(-3)) {
    const text = story.dice.pick(["approve", "asker's words"]);
    await story.on.mail({ from: person.email, to, text, signed: false });
    story.note(`mails ${text} to ${to.slice(0, 12)} as ${person.name}`);
  }
  for (const delivery of all(/dlv_\w{16,}/g).slice(-3)) {
    await pressAs(story, { user: "U0ANA", channel: "D0ANA", delivery, app: "askers", ts: "1763639999.000001" });
    story.note(`has Ana press on a message of its own about ${delivery}`);
  }
};

interface Press {
  user: string;
  channel: string;
  delivery: string;
  app: "ours" | "askers";
  ts: string;
}

async function pressAs(story: ConsentStory, { user, channel, delivery, app, ts }: Press): Promise<void> {
  await story.on.press(
    {
      type: "block_actions",
      ...(app === "askers" && { api_app_id: ASKERS_APP }),
      team: { id: TEAM },
      user: { id: user, team_id: TEAM, username: user.toLowerCase() },
      channel: { id: channel },
      container: { type: "message", message_ts: ts, channel_id: channel },
      message: { ts, text: "May I read the weather?" },
      trigger_id: "t",
      actions: [{ action_id: "parley:approve", block_id: "b", value: delivery, type: "button", action_ts: "1" }],
    },
    app,
  );
}

/** Somebody of the channel who is not enrolled presses on what was posted there. */
const pressInChannel: Step = async (story) => {
  const posts = story.on.slack.of("chat.postMessage").filter(({ form }) => form["channel"] === CHANNEL);
  const one = posts.at(-1 - story.dice.int(3));
  const delivery = /"value":"(dlv_\w+|[\w.-]+)"/.exec(one?.form["blocks"] ?? "")?.[1];
  if (!one || !delivery) return;
  // The stand-in counts what is posted, and names each by its number.
  const number = story.on.slack.of("chat.postMessage").indexOf(one) + 1;
  const ts = `1763632800.${String(number).padStart(6, "0")}`;
  story.on.slack.users.set(UNENROLLED_MEMBER, { id: UNENROLLED_MEMBER, team_id: TEAM, deleted: false, is_bot: false });
  await pressAs(story, { user: UNENROLLED_MEMBER, channel: CHANNEL, delivery, app: "ours", ts });
  story.note("somebody who is not enrolled presses in the channel");
};

/** The asker asks its own mailbox, too. */
const escalate: Step = async (story) => {
  const one = story.calls[story.dice.int(story.calls.length || 1)];
  if (!one) return;
  const body = { escalation_msg: "please", channel: { email: { address: ASKERS_MAILBOX } } };
  const reply = await post(story, `${A2H}/agent/function_calls/${one.id}/escalate_email`, body);
  story.note(`escalates ${one.id} to itself -> ${reply.status}`);
};

const cancel: Step = async (story) => {
  const question = story.questions[story.dice.int(story.questions.length || 1)];
  if (!question) return;
  const reply = await post(story, `${A2H}/agent/human_contacts/${question.id}/cancel`, {});
  story.note(`cancels ${question.id} -> ${reply.status}`);
};

const wait: Step = async (story) => {
  const ms = story.dice.pick([1000, 31_000, 600_000]);
  await story.on.advance(ms);
  story.note(`${ms} ms pass`);
};

/** Returns a mail that somebody got, with what stands in it. */
function someMail(story: ConsentStory) {
  const person = story.dice.pick(story.on.people);
  const mails = story.mailsTo(person).slice(-6);
  const taken = mails.length === 0 ? null : story.dice.pick(mails);
  return taken && { person, taken, tokens: tokensIn(taken), others: mails };
}

/** A person says something to a mail, and quotes it, or another one, in one of the ways that mail programs have. */
const replyByMail: Step = async (story) => {
  const found = someMail(story);
  if (!found) return;
  const { person, taken, tokens, others } = found;
  const { replyTo, messageId } = tokens;
  if (replyTo === null) return;
  const mark = story.fresh("said");
  const quoted = story.dice.pick([taken, story.dice.pick(others)]).mail.text ?? "";
  const words = story.dice.pick([mark, `reject: ${mark}`, `I do not know yet, ${mark}`]);
  const text = story.dice.pick([
    words,
    `${words}\n\n${quoted}`,
    `${words}\n\n${quoted.replace(/^/gm, "> ")}`,
    `${words}\n\n---- Videresendt besked ----\n${quoted}`,
    `${words}\n\n${quoted.replace(/https?:\/\/\S+/g, (link) => `https://eur01.safelinks.protection.outlook.com/?url=${encodeURIComponent(link)}&data=05`)}`,
  ]);
  // Which question it answers follows from the mail alone.
  const about = await questionFor(story, tokens);
  about?.marks.add(mark);
  await story.on.mail({ from: person.email, to: replyTo, inReplyTo: messageId, text, signed: true });
  story.note(`${person.name} replies ${words} to ${about?.id ?? "a mail"}`);
};

/** The question that a mail was sent for, by the store: the words of a mail may name any other. */
async function questionFor(story: ConsentStory, mail: MailTokens): Promise<AskedQuestion | undefined> {
  const askId = await story.askOfMail(mail);
  return story.questions.find((one) => one.askId === askId);
}

/** A person approves, or rejects, with the link and the code of their own message, having been asked. */
const decide: Step = async (story) => {
  const found = someMail(story);
  const askId = found && (await story.askOfMail(found.tokens));
  const call = story.calls.find((one) => one.askId === askId);
  if (!found || !call || !call.of.includes(found.person)) return;
  const { link, code, replyTo, messageId } = found.tokens;
  const choice = story.dice.chance(0.7) ? "approve" : "reject";
  if (choice === "approve") call.agreed.add(found.person);
  if (story.dice.chance(0.5) && link && code) await story.decideByLink(link, { choice, code });
  else if (replyTo) {
    await story.on.mail({ from: found.person.email, to: replyTo, inReplyTo: messageId, text: choice, signed: true });
  }
  story.note(`${found.person.name} decides ${call.id}: ${choice}`);
};

/** A person says ok to the asker's own mail, which names a message of ours; the asker hands that mail in. */
const okElsewhere: Step = async (story) => {
  const person = story.dice.pick(story.on.people);
  await read(story);
  const ids = [...story.learnt.join("\n").matchAll(/[\w.+-]{10,60}@parley\.example|dlv_\w{16,}/g)].map(([id]) => id);
  if (ids.length === 0) return;
  const id = story.dice.pick(ids);
  const inReplyTo = id.includes("@") ? `<${id}>` : `<${id}.1@parley.example>`;
  const text = story.dice.pick(["ok", "approve", `approve\n\n> Reference: ${id}`]);
  await story.on.mail({ from: person.email, to: ASKERS_MAILBOX, inReplyTo, text, signed: true });
  story.note(`${person.name} writes ${JSON.stringify(text)} to the asker under ${inReplyTo}, who hands it in`);
};

/** One executor has an answer kept; another asks somebody else the same. */
const askKept: Step = async (story) => {
  const [ana, bo] = story.on.people as readonly [Somebody, Somebody];
  const prompt = `Which account, ${story.fresh("ask")}?`;
  const envelope = { job_snapshot: {}, role: "default" };
  const ask = async (to: Somebody, by: Record<string, string>) =>
    post(
      story,
      "/asks",
      {
        job_id: story.fresh("job"),
        step_id: "s",
        ask_type: "CLARIFICATION",
        prompt,
        context_envelope: envelope,
        meta: { to: to.number },
      },
      by,
    );
  const first = await ask(bo, story.on.otherExecutor);
  const id = await story.boxOf(bo, prompt);
  if (id === null) return;
  const said = { text: "what Bo says", same_next_time: true };
  await story.on.world.call("POST", `/people/me/asks/${id}/decision`, { body: said, headers: bo.answers ?? {} });
  await story.answered(first.body.ask_id as string);
  const second = await ask(ana, story.on.executor);
  story.note(`an executor asks Ana what Bo was asked by another -> ${second.status}`);
  const isWithAna = (await story.boxOf(ana, prompt)) !== null;
  if (!isWithAna) story.broke(`what Bo had kept for one executor answered what another one asked Ana: ${prompt}`);
  await story.on.world.call("DELETE", `/asks/${second.body.ask_id as string}`, { headers: story.on.executor });
};

/** All that can happen, each with how often it does. */
const STEPS: readonly (readonly [Step, number])[] = [
  [askCall, 16],
  [askQuestion, 12],
  [tryLearnt, 14],
  [replyByMail, 18],
  [decide, 10],
  [pressInChannel, 6],
  [escalate, 4],
  [okElsewhere, 6],
  [cancel, 3],
  [wait, 8],
  [askKept, 1],
];
const SHARES = STEPS.reduce((sum, [, share]) => sum + share, 0);

/** Does one thing that the dice choose. */
export async function anyStep(story: ConsentStory): Promise<void> {
  let left = story.dice.int(SHARES);
  for (const [step, share] of STEPS) {
    left -= share;
    if (left < 0) return step(story);
  }
}

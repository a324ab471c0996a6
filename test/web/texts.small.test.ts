import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as answer from "../../web/src/answer/text.ts";
import * as answerAr from "../../web/src/answer/text.ar.ts";
import * as answerDe from "../../web/src/answer/text.de.ts";
import * as you from "../../web/src/answer/you/text.ts";
import * as youAr from "../../web/src/answer/you/text.ar.ts";
import * as youDe from "../../web/src/answer/you/text.de.ts";
import * as run from "../../web/src/console/text.ts";
import * as runAr from "../../web/src/console/text.ar.ts";
import * as runDe from "../../web/src/console/text.de.ts";
import * as overview from "../../web/src/console/overview/text.ts";
import * as overviewAr from "../../web/src/console/overview/text.ar.ts";
import * as overviewDe from "../../web/src/console/overview/text.de.ts";
import * as relay from "../../web/src/console/relay/text.ts";
import * as relayAr from "../../web/src/console/relay/text.ar.ts";
import * as relayDe from "../../web/src/console/relay/text.de.ts";
import * as tasks from "../../web/src/console/tasks/text.ts";
import * as tasksAr from "../../web/src/console/tasks/text.ar.ts";
import * as tasksDe from "../../web/src/console/tasks/text.de.ts";
import * as inbox from "../../web/src/inbox/text.ts";
import * as inboxAr from "../../web/src/inbox/text.ar.ts";
import * as inboxDe from "../../web/src/inbox/text.de.ts";
import * as batch from "../../web/src/inbox/batch-text.ts";
import * as batchAr from "../../web/src/inbox/batch-text.ar.ts";
import * as batchDe from "../../web/src/inbox/batch-text.de.ts";
import * as undo from "../../web/src/inbox/undo-text.ts";
import * as undoAr from "../../web/src/inbox/undo-text.ar.ts";
import * as undoDe from "../../web/src/inbox/undo-text.de.ts";
import * as away from "../../web/src/inbox/away-text.ts";
import * as awayAr from "../../web/src/inbox/away-text.ar.ts";
import * as awayDe from "../../web/src/inbox/away-text.de.ts";
import * as askBack from "../../web/src/inbox/ask-back-text.ts";
import * as askBackAr from "../../web/src/inbox/ask-back-text.ar.ts";
import * as askBackDe from "../../web/src/inbox/ask-back-text.de.ts";
import * as handOn from "../../web/src/inbox/hand-on-text.ts";
import * as handOnAr from "../../web/src/inbox/hand-on-text.ar.ts";
import * as handOnDe from "../../web/src/inbox/hand-on-text.de.ts";
import * as snooze from "../../web/src/inbox/snooze-text.ts";
import * as snoozeAr from "../../web/src/inbox/snooze-text.ar.ts";
import * as snoozeDe from "../../web/src/inbox/snooze-text.de.ts";
import * as precedent from "../../web/src/inbox/precedent-text.ts";
import * as precedentAr from "../../web/src/inbox/precedent-text.ar.ts";
import * as precedentDe from "../../web/src/inbox/precedent-text.de.ts";
import * as plan from "../../web/src/inbox/plan/plan-text.ts";
import * as planAr from "../../web/src/inbox/plan/plan-text.ar.ts";
import * as planDe from "../../web/src/inbox/plan/plan-text.de.ts";
import * as keys from "../../web/src/keys-dialog/text.ts";
import * as keysAr from "../../web/src/keys-dialog/text.ar.ts";
import * as keysDe from "../../web/src/keys-dialog/text.de.ts";
import * as signOut from "../../web/src/parts/sign-out-text.ts";
import * as signOutAr from "../../web/src/parts/sign-out-text.ar.ts";
import * as signOutDe from "../../web/src/parts/sign-out-text.de.ts";
import * as shell from "../../web/src/text.ts";
import * as shellAr from "../../web/src/text.ar.ts";
import * as shellDe from "../../web/src/text.de.ts";

type Entry = readonly [name: string, text: unknown];

/** Returns every text of a table with its name, such as `feed.title`. */
function entriesOf(table: object, within = ""): Entry[] {
  return Object.entries(table).flatMap(([name, one]: [string, unknown]): Entry[] =>
    typeof one === "object" && one !== null ? entriesOf(one, `${within}${name}.`) : [[`${within}${name}`, one]],
  );
}

const TABLES = [
  { name: "shell", en: shell.text, de: shellDe.text, ar: shellAr.text },
  { name: "Answer", en: answer.text, de: answerDe.text, ar: answerAr.text },
  { name: "You", en: you.text, de: youDe.text, ar: youAr.text },
  { name: "Inbox", en: inbox.text, de: inboxDe.text, ar: inboxAr.text },
  { name: "calls decided together", en: batch.text, de: batchDe.text, ar: batchAr.text },
  { name: "decisions to undo", en: undo.text, de: undoDe.text, ar: undoAr.text },
  { name: "absences", en: away.text, de: awayDe.text, ar: awayAr.text },
  { name: "questions to an agent", en: askBack.text, de: askBackDe.text, ar: askBackAr.text },
  { name: "requests handed on", en: handOn.text, de: handOnDe.text, ar: handOnAr.text },
  { name: "requests put aside", en: snooze.text, de: snoozeDe.text, ar: snoozeAr.text },
  { name: "plans", en: plan.text, de: planDe.text, ar: planAr.text },
  { name: "earlier decisions", en: precedent.text, de: precedentDe.text, ar: precedentAr.text },
  { name: "Run", en: run.text, de: runDe.text, ar: runAr.text },
  { name: "the sections of Run", en: overview.text, de: overviewDe.text, ar: overviewAr.text },
  { name: "asks and jobs", en: relay.text, de: relayDe.text, ar: relayAr.text },
  { name: "signing out", en: signOut.text, de: signOutDe.text, ar: signOutAr.text },
  { name: "the list of keys", en: keys.text, de: keysDe.text, ar: keysAr.text },
  { name: "tasks", en: tasks.text, de: tasksDe.text, ar: tasksAr.text },
].map(({ name, ...languages }) => ({ name, languages: Object.entries(languages) }));

/** Those whose arguments are no counts. */
const OF_THINGS = [
  "mark",
  "ask.kindOf",
  "ask.moment",
  "ask.money",
  "needs",
  "who",
  "outcome",
  "said",
  "mayAnswer",
  "deed",
  "channel",
  "channels",
  "channels.state",
  "asks.delivery",
  "policy.would",
  "replay.counts",
  "suggest.counts",
  "suggest.taken",
  "wouldHaveCovered",
  "channels.result",
  "audit.by",
  "tasks",
  "waiting.whom",
  "checklist.agentsSays",
  "agents.state",
  "agents.says",
  "agents.hook",
  "agents.prompt",
  "stage",
  "by",
  "type",
  "jobState",
  "askState",
  "status",
  "live",
  "live.byStage",
  "live.share",
  "policy.defaults",
  "policy.decision",
  "cache.decided",
  "state",
  "dependency",
  "diffstat",
  "why",
  "log.kind",
  "page.ended",
  "page.reviewed",
  "usage",
];
const COUNTS = [0, 1, 2, 3, 11, 100];

describe("the texts of the web app", () => {
  for (const { name, languages } of TABLES) {
    const [, english] = languages[0] ?? assert.fail();
    for (const [language, table] of languages) {
      it(`of ${name} are the same in number and kind in ${language}, and none is empty`, () => {
        const kinds = (of: object) => entriesOf(of).map(([key, one]) => `${key}: ${typeof one}`);
        assert.deepEqual(kinds(table).sort(), kinds(english).sort());
        for (const [key, one] of entriesOf(table)) assert.notEqual(one, "", key);
      });

      it(`of ${name} have a form for every count in ${language}`, () => {
        for (const [key, one] of entriesOf(table)) {
          if (typeof one !== "function" || OF_THINGS.includes(key)) continue;
          for (const n of COUNTS) {
            const said = (one as (...counts: number[]) => string)(n, n, n);
            const isNothing = ["left", "review.remarks"].includes(key) && n === 0;
            assert.ok(isNothing || /^[^#]+$/.test(said), `${key} of ${n}: ${said}`);
            assert.doesNotMatch(said, /undefined|NaN|null/, key);
          }
        }
      });
    }
  }

  it("writes what a task cost as the reader's language writes money", () => {
    assert.equal(tasks.text.usage({ costUsd: 1234.5 }), "$1,234.50");
  });

  it("tell apart the six forms of Arabic", () => {
    const said = [0, 1, 2, 3, 11, 100].map((n) => inboxAr.text.ask.length(n));
    assert.deepEqual(said, ["لا أحرف", "حرف واحد", "حرفان", "3 أحرف", "11 حرفًا", "100 حرف"]);
  });
});

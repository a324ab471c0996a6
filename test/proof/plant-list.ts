import type { Plant } from "./plant-bug.ts";
import { PLANTS_AROUND_PEOPLE } from "./plant-list-consent.ts";
import { PLANTS_AT_THE_EDGE } from "./plant-list-edge.ts";
import { PLANTS_OF_OUTCOMES } from "./plant-list-outcomes.ts";

/** The number of a bug in this list is its seed. */
export const PLANTS: readonly Plant[] = [
  {
    bug: "quorum by read, then write",
    file: "src/questions/store/questions.ts",
    find: "SET n = n + 1, version",
    put: "SET n = (SELECT seen.n FROM questions seen WHERE seen.ask_id = questions.ask_id) + 1, version",
    harness: "race",
    fast: true,
    says: /50 were needed/,
  },
  {
    bug: "key by look, then insert",
    file: "src/questions/create.ts",
    find: `  const store = async (tx: Tx) => {
    const existing = sameness && (await claimOrFind(tx, input.asker, id, sameness));`,
    put: `  const { sql } = await import("../core/store/sql.ts");
  const [looked] = sameness ? await ctx.db.all<{ object_id: string; body_hash: string }>(
    sql\`SELECT object_id, body_hash FROM idempotency
      WHERE principal = \${input.asker} AND verb = 'ask' AND key = \${sameness.key} AND expires_at > parley_now()\`,
  ) : [];
  if (looked && looked.body_hash !== sameness?.bodyHash) {
    throw new Refusal("idempotency_mismatch", { field: "idempotency_key" });
  }
  const store = async (tx: Tx) => {
    const existing = looked?.object_id;
    if (sameness && !looked) {
      await tx.all(sql\`INSERT INTO idempotency (principal, verb, key, body_hash, object_id, expires_at)
        VALUES (\${input.asker}, 'ask', \${sameness.key}, \${sameness.bodyHash}, \${id}, parley_now() + 86400000)
        ON CONFLICT (principal, verb, key) DO UPDATE SET object_id = excluded.object_id,
          body_hash = excluded.body_hash, expires_at = excluded.expires_at\`);
    }`,
    harness: "sim",
    fast: true,
    says: /^I1/,
  },
  {
    bug: "key by look, then insert, in one statement",
    file: "src/core/store/idempotency.ts",
    find: "WHERE idempotency.expires_at <= parley_now()",
    put: `WHERE NOT EXISTS (SELECT 1 FROM idempotency seen WHERE seen.principal = idempotency.principal
          AND seen.verb = idempotency.verb AND seen.key = idempotency.key AND seen.expires_at > parley_now())`,
    harness: "race",
    fast: true,
    says: /^one key, |^key /,
  },
  {
    bug: "read before subscribe",
    file: "src/questions/read.ts",
    find: "await changes.next(Math.min(leftMs, untilDeadline(ctx, reading.question)));",
    put: `using late = watch(ctx, [askTopic(questionId)], [ctx.stopping, options.signal]);
    await late.next(Math.min(leftMs, untilDeadline(ctx, reading.question)));`,
    harness: "sim",
    fast: true,
    says: /^T4/,
  },
  {
    bug: "wake before COMMIT",
    file: "src/core/store/transact.ts",
    find: "const { value, topics, facts } = await ctx.db.transact(work, options);",
    put: `const { value, topics, facts } = await ctx.db.transact((tx) => {
    const all: typeof tx.all = (statement) => tx.all(statement);
    return work({ dialect: tx.dialect, all, wake: (topic) => ctx.wake.publish([topic]), tell: (fact) => tx.tell(fact) });
  });`,
    harness: "sim",
    fast: true,
    says: /^D5/,
  },
  {
    bug: "deadline by the node's clock",
    file: "src/questions/expire.ts",
    find: "|| !isOverdue(held)) return held?.question;",
    put: "|| ctx.clock.now() < held.question.expiresAt) return held?.question;",
    harness: "sim",
    fast: true,
    // A question ends before its time, or is shown open after it.
    says: /^T[12]/,
  },
  {
    bug: "savepoint left out of the group commit",
    file: "src/core/store/sqlite/sqlite.ts",
    find: 'writer.exec("ROLLBACK TO work; RELEASE work");',
    put: 'writer.exec("RELEASE work");',
    harness: "sim",
    fast: true,
    // The refused change stays. It breaks a rule of its own, or changes a question whose waiters are not woken.
    says: /^(A|D4|I|T4|T5)/,
  },
  {
    bug: "reply before COMMIT",
    file: "src/core/store/sqlite/sqlite.ts",
    find: "return { kept: true, tell: () => transaction.resolve({ value, topics, facts }) };",
    put: `if (topics.size === 0) return { kept: true, tell: () => transaction.resolve({ value, topics, facts }) };
      transaction.resolve({ value, topics, facts });
      await yieldToEventLoop();
      return { kept: true, tell: () => {} };`,
    harness: "kill",
    says: /it is gone/,
  },
  {
    bug: "closed looked for before duplicate",
    file: "src/questions/answer.ts",
    find: `  await refuseIfAnswered(tx, found.question.id, identity);
  const current = await heldIfDue(tx, found);
  if (current.state !== "open") throw await refusalOfSettled(tx, current);`,
    put: `  const current = await heldIfDue(tx, found);
  if (current.state !== "open") throw await refusalOfSettled(tx, current);
  await refuseIfAnswered(tx, found.question.id, identity);`,
    harness: "model",
    fast: true,
    says: /should have said .*ALREADY_ANSWERED/,
  },
  {
    bug: "in_time ignored",
    file: "src/questions/answer.ts",
    find: "if (!counted?.inTime) {",
    put: "if (!counted) {",
    harness: "race",
    says: /held past the deadline/,
  },
  {
    bug: "the loser of a deadline is told what the clock says",
    file: "src/questions/answer.ts",
    find: "  const held = await lockQuestion(tx, question.id);",
    put: "  const held = undefined as QuestionAt | undefined;",
    harness: "race",
    says: /a question that closed/,
  },
  {
    bug: "cancel and expiry read the row without holding it",
    file: "src/questions/store/questions.ts",
    find: 'lockedRows(tx, "questions", sql`ask_id = ${questionId}`, sql`, ${FROZEN}`)',
    put: "sql`SELECT *, parley_now() AS now, ${FROZEN} FROM questions WHERE ask_id = ${questionId}`",
    harness: "race",
    says: /answered 500/,
  },
  {
    bug: "streams numbered by a sequence",
    file: "src/core/store/streams.ts",
    find: `    tx.all(sql\`INSERT INTO streams (id, seq, kept_from) VALUES (\${stream}, 1, 1)
      ON CONFLICT (id) DO UPDATE SET seq = streams.seq + 1\`),
    tx.all(sql\`INSERT INTO events (stream, seq, kind, ask_id, version, at)
      VALUES (\${stream}, (SELECT seq FROM streams WHERE id = \${stream}), \${event.kind}, \${event.questionId},
        \${event.version}, \${event.at})\`),`,
    put: `    (async () => {
      const { raw } = await import("./sql.ts");
      let hash = 7;
      for (const letter of stream) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
      await tx.all(raw("CREATE SEQUENCE IF NOT EXISTS planted_" + hash));
      await tx.all(sql\`INSERT INTO streams (id, seq, kept_from) VALUES (\${stream}, 1000000, 1)
        ON CONFLICT (id) DO NOTHING\`);
      const [{ seq }] = await tx.all(raw("SELECT nextval('planted_" + hash + "') AS seq"));
      await tx.all(sql\`INSERT INTO events (stream, seq, kind, ask_id, version, at)
        VALUES (\${stream}, \${seq}, \${event.kind}, \${event.questionId}, \${event.version}, \${event.at})\`);
    })(),`,
    harness: "race",
    says: /^stream of/,
  },
  {
    bug: "an event sent again on resuming",
    file: "src/core/store/streams.ts",
    find: "AND seq > ${after} ORDER BY",
    put: "AND seq >= ${after} ORDER BY",
    harness: "sim",
    fast: true,
    says: /^S/,
  },
  {
    bug: "limits by read, then write",
    file: "src/core/store/limit-windows.ts",
    find: "ELSE limit_windows.used + excluded.used END",
    put: `ELSE (SELECT seen.used FROM limit_windows seen
            WHERE seen.bucket = limit_windows.bucket AND seen.subject = limit_windows.subject) + excluded.used END`,
    harness: "race",
    says: /refused: 500|answered 500|was told of/,
  },
  {
    bug: "wake-ups stay at home",
    file: "src/core/store/wake.ts",
    find: "carrier?.send(list);",
    put: "",
    harness: "race",
    says: /a wait heard/,
  },
  {
    bug: "status as the sweeper left it",
    file: "src/questions/read.ts",
    find: "const asks = await Promise.all(found.map((one) => settleIfDue(ctx, one)));",
    put: "const asks = found.map((one) => one.question);",
    harness: "model",
    says: /said .*"status":"(OPEN|PARTIAL)"[^]*should have said .*"status":"EXPIRED"/,
  },
  {
    bug: "another body under a used key gets what the key stands for",
    file: "src/questions/create.ts",
    find: "if (used && used.bodyHash !== key.bodyHash) throw",
    put: "if (false) throw",
    harness: "model",
    says: /should have said .*IDEMPOTENCY_MISMATCH/,
  },
  {
    bug: "two servers on one file",
    file: "src/core/store/server-lock.ts",
    find: "journal_mode = MEMORY; BEGIN EXCLUSIVE",
    put: "journal_mode = MEMORY; BEGIN",
    harness: "kill",
    says: /D8/,
  },
  {
    bug: "reads served for a moment from a node's memory",
    file: "src/questions/read.ts",
    find: "const found = await findQuestion(ctx.db, questionId);",
    put: `const kept = ((ctx as { kept?: Map<string, { found: QuestionAt | undefined; at: number }> }).kept ??= new Map());
  const last = kept.get(questionId);
  const isFresh = last !== undefined && ctx.clock.monotonic() - last.at < 200;
  const found = isFresh ? last.found : await findQuestion(ctx.db, questionId);
  if (!isFresh) kept.set(questionId, { found, at: ctx.clock.monotonic() });`,
    harness: "race",
    says: /after .* had (made or )?shown|a wait heard/,
  },
  {
    bug: "work is reviewed without a look at whether it still waits for that",
    file: "src/tasks/review.ts",
    find: `if (state !== "review" || commit === null || held.attempt !== attempt) {`,
    put: "if (commit === null) {",
    harness: "run",
    says: /(V2: the review of|A1)/,
  },
  {
    bug: "dependants start when a dependency has begun",
    file: "src/tasks/model/task.ts",
    find: `: STATUS[state] === "completed";`,
    put: `: STATUS[state] !== "error";`,
    harness: "run",
    fast: true,
    says: /J8|G4/,
  },
  {
    bug: "the next attempt does not wait for the one before to be dead",
    file: "src/tasks/store/tasks.ts",
    find: "AND NOT EXISTS (SELECT 1 FROM task_attempts a WHERE a.repo = t.repo AND a.id = t.id AND a.ended_at IS NULL)",
    put: "",
    harness: "run",
    says: /J9/,
  },
  {
    bug: "whoever was lost still writes in the name of a job",
    file: "src/asks/jobs/hold-job.ts",
    find: "if (!external) checkLease(held, lease);",
    put: "if (!external) void checkLease;",
    harness: "run",
    fast: true,
    says: /J2: whoever lost ghost-\d+ went on writing/,
  },
  {
    bug: "a trusted proxy does not count",
    file: "src/lib/network/reach.ts",
    find: 'return trustedProxies.length > 0 ? "PARLEY_TRUSTED_PROXIES is set" : null;',
    put: "return null;",
    harness: "reach",
    fast: true,
    says: /a stranger was let in/,
  },
  {
    bug: "only the header that names the address is looked at",
    file: "src/protocols/http/reach.ts",
    find: "return Object.keys(headers).some((name) => PROXY_HEADER.test(name));",
    put: 'return headers["x-forwarded-for"] !== undefined;',
    harness: "reach",
    says: /a stranger was let in/,
  },
  {
    bug: "figures are shown by what is bound alone",
    file: "src/protocols/ops/ops-routes.ts",
    find: 'if (key?.scope !== "admin") refuseFromElsewhere(config, http);',
    put: 'if (key?.scope !== "admin" && !config.loopbackOnly) refuseFromElsewhere(config, http);',
    harness: "reach",
    says: /a stranger was let in.* GET \/metrics/,
  },
  {
    bug: "arguments on our own pages are escaped as loosely as words are",
    file: "src/protocols/web/inbox/arguments.ts",
    find: "printableExactly, printableLinesExactly }",
    put: "printableExactly, printableLines as printableLinesExactly }",
    harness: "unseen",
    fast: true,
    says: /^(U\+\w+ is shown as it is by|two calls that differ look alike on) (the page of a link|the inbox)$/,
  },
  {
    bug: "a blank character that no property of Unicode tells is forgotten",
    file: "src/lib/printable.ts",
    find: String.raw`\p{Zp}\u{2800}\u{1d159}`,
    put: String.raw`\p{Zp}\u{1d159}`,
    harness: "unseen",
    fast: true,
    says: /^(U\+2800 is shown as it is|two calls that differ look alike)/,
  },
  {
    bug: "a transaction whose server says nothing is never ended",
    file: "src/core/store/postgres/connection.ts",
    find: "    idle_in_transaction_session_timeout: part(waitMs, 1 / 2),\n",
    put: "",
    harness: "freeze",
    fast: true,
    says: /^R7: \d+ transactions of the frozen server/,
  },
  {
    bug: "the head of the chain is held to the commit of what is recorded",
    file: "src/core/store/audit.ts",
    find: "  const at = notes[0]?.at ?? (await storeNow(tx));",
    put: `  await tx.all(sql\`UPDATE audit_head SET seq = seq WHERE id = 1\`);
  const at = await storeNow(tx);`,
    harness: "freeze",
    fast: true,
    says: /^X5: while somebody held the head/,
  },
  {
    bug: "entries are sealed from the last sealed one on, as if transactions committed in the order of their numbers",
    file: "src/core/store/audit.ts",
    find: "WHERE seq IS NULL ORDER BY id LIMIT",
    put: "WHERE seq IS NULL AND id > (SELECT coalesce(max(id), 0) FROM audit WHERE seq IS NOT NULL) ORDER BY id LIMIT",
    harness: "freeze",
    says: /^X5: /,
  },
  ...PLANTS_AT_THE_EDGE,
  ...PLANTS_OF_OUTCOMES,
  ...PLANTS_AROUND_PEOPLE,
  {
    bug: "verbs are told before the commit that they share",
    file: "src/core/store/postgres/group-commit.ts",
    find: "await commitGroup(lent, session);",
    put: "void commitGroup(lent, session).catch(() => {});",
    harness: "promote",
    says: /acknowledged and is lost|R1: a wait ended/,
  },
  {
    bug: "a verb that was refused leaves what it wrote in the shared commit",
    file: "src/core/store/postgres/group-commit.ts",
    find: "if (hasWritten) session.fail(error);",
    put: "void hasWritten;",
    harness: "race",
    says: /was refused with \d+ of \d+ used/,
  },
];

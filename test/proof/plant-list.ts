/** A bug on purpose: its harness must notice it (invariants.md, section 5). */
export interface Plant {
  /** What is wrong with it, as a developer might have written it. */
  bug: string;
  file: string;
  /** Stands exactly once in the file. */
  find: string;
  put: string;
  harness: "sim" | "kill" | "model" | "race" | "run";
  /** Runs with every change; the others with `--long`. */
  fast?: boolean;
  /** What the harness has to say about it, so that it does not pass for caught when something else is noticed. */
  says: RegExp;
}

export const PLANTS: readonly Plant[] = [
  {
    bug: "quorum by read, then write",
    file: "src/store/asks.ts",
    find: "SET n = n + 1, version",
    put: "SET n = (SELECT seen.n FROM questions seen WHERE seen.ask_id = questions.ask_id) + 1, version",
    harness: "race",
    fast: true,
    says: /50 were needed/,
  },
  {
    bug: "key by look, then insert",
    file: "src/verbs/create-ask.ts",
    find: `  const created = await transact(ctx, async (tx) => {
    const standing = sameness && (await claimOrFind(tx, input.asker, id, sameness));`,
    put: `  const { sql } = await import("../store/sql.ts");
  const [looked] = sameness ? await ctx.db.all<{ object_id: string; body_hash: string }>(
    sql\`SELECT object_id, body_hash FROM idempotency
      WHERE principal = \${input.asker} AND verb = 'ask' AND key = \${sameness.key} AND expires_at > parley_now()\`,
  ) : [];
  if (looked && looked.body_hash !== sameness?.bodyHash) {
    throw new Refusal("idempotency_mismatch", { field: "idempotency_key" });
  }
  const created = await transact(ctx, async (tx) => {
    const standing = looked?.object_id;
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
    file: "src/store/idempotency.ts",
    find: "WHERE idempotency.expires_at <= parley_now()",
    put: `WHERE NOT EXISTS (SELECT 1 FROM idempotency seen WHERE seen.principal = idempotency.principal
          AND seen.verb = idempotency.verb AND seen.key = idempotency.key AND seen.expires_at > parley_now())`,
    harness: "race",
    fast: true,
    says: /^one key, |^key /,
  },
  {
    bug: "read before subscribe",
    file: "src/verbs/read-ask.ts",
    find: "await changes.next(Math.min(leftMs, untilDeadline(ctx, reading.ask)));",
    put: `using late = watch(ctx, [askTopic(askId)], [ctx.stopping, options.signal]);
    await late.next(Math.min(leftMs, untilDeadline(ctx, reading.ask)));`,
    harness: "sim",
    fast: true,
    says: /^T4/,
  },
  {
    bug: "wake before COMMIT",
    file: "src/store/transact.ts",
    find: "const { value, topics, told } = await ctx.db.transact(work);",
    put: `const { value, topics, told } = await ctx.db.transact((tx) => {
    const all: typeof tx.all = (statement) => tx.all(statement);
    return work({ dialect: tx.dialect, all, wake: (topic) => ctx.wake.publish([topic]), tell: (fact) => tx.tell(fact) });
  });`,
    harness: "sim",
    fast: true,
    says: /^D5/,
  },
  {
    bug: "deadline by the node's clock",
    file: "src/verbs/expire-ask.ts",
    find: "|| held.now < held.ask.expiresAt) return held?.ask;",
    put: "|| ctx.clock.now() < held.ask.expiresAt) return held?.ask;",
    harness: "sim",
    fast: true,
    // A question ends before its time, or is shown open after it.
    says: /^T[12]/,
  },
  {
    bug: "savepoint left out of the train",
    file: "src/store/sqlite.ts",
    find: 'writer.exec("ROLLBACK TO passenger; RELEASE passenger");',
    put: 'writer.exec("RELEASE passenger");',
    harness: "sim",
    fast: true,
    // What was refused stays: it breaks a rule of its own, or changes a question of which nobody is woken.
    says: /^(A|D4|I|T4|T5)/,
  },
  {
    bug: "reply before COMMIT",
    file: "src/store/sqlite.ts",
    find: "return { kept: true, tell: () => passenger.resolve({ value, topics, told }) };",
    put: `if (topics.size === 0) return { kept: true, tell: () => passenger.resolve({ value, topics, told }) };
      passenger.resolve({ value, topics, told });
      await nextTurn();
      return { kept: true, tell: () => {} };`,
    harness: "kill",
    says: /it is gone/,
  },
  {
    bug: "closed looked for before duplicate",
    file: "src/verbs/answer-ask.ts",
    find: `    await refuseIfAnswered(tx, found.ask.id, identity);
    const current = await heldIfDue(tx, found);
    if (current.state !== "open") throw await refusalOfSettled(tx, current);`,
    put: `    const current = await heldIfDue(tx, found);
    if (current.state !== "open") throw await refusalOfSettled(tx, current);
    await refuseIfAnswered(tx, found.ask.id, identity);`,
    harness: "model",
    fast: true,
    says: /should have said .*ALREADY_ANSWERED/,
  },
  {
    bug: "in_time ignored",
    file: "src/verbs/answer-ask.ts",
    find: "if (!counted?.inTime) {",
    put: "if (!counted) {",
    harness: "race",
    says: /held past the deadline/,
  },
  {
    bug: "the loser of a deadline is told what the clock says",
    file: "src/verbs/answer-ask.ts",
    find: "  const held = await lockAsk(tx, ask.id);",
    put: "  const held = undefined as AskAt | undefined;",
    harness: "race",
    says: /a question that closed/,
  },
  {
    bug: "cancel and expiry read the row without holding it",
    file: "src/store/asks.ts",
    find: "sql`UPDATE questions SET state = state WHERE ask_id = ${askId} RETURNING *, parley_now() AS now`,",
    put: "sql`SELECT *, parley_now() AS now FROM questions WHERE ask_id = ${askId}`,",
    harness: "race",
    says: /answered 500/,
  },
  {
    bug: "streams numbered by a sequence",
    file: "src/store/streams.ts",
    find: `    sql\`INSERT INTO streams (id, seq, kept_from) VALUES (\${stream}, 1, 1)
      ON CONFLICT (id) DO UPDATE SET seq = streams.seq + 1 RETURNING seq\`,`,
    put: `    await (async () => {
      const { raw } = await import("./sql.ts");
      let hash = 7;
      for (const letter of stream) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
      await tx.all(raw("CREATE SEQUENCE IF NOT EXISTS planted_" + hash));
      await tx.all(sql\`INSERT INTO streams (id, seq, kept_from) VALUES (\${stream}, 1000000, 1)
        ON CONFLICT (id) DO NOTHING\`);
      return raw("SELECT nextval('planted_" + hash + "') AS seq");
    })(),`,
    harness: "race",
    says: /^stream of/,
  },
  {
    bug: "an event sent again on resuming",
    file: "src/store/streams.ts",
    find: "AND seq > ${after} ORDER BY",
    put: "AND seq >= ${after} ORDER BY",
    harness: "sim",
    fast: true,
    says: /^S/,
  },
  {
    bug: "limits by read, then write",
    file: "src/store/limit-windows.ts",
    find: "ELSE limit_windows.used + excluded.used END",
    put: `ELSE (SELECT seen.used FROM limit_windows seen
            WHERE seen.bucket = limit_windows.bucket AND seen.subject = limit_windows.subject) + excluded.used END`,
    harness: "race",
    says: /refused: 500|answered 500|was told of/,
  },
  {
    bug: "wake-ups stay at home",
    file: "src/store/wake.ts",
    find: "carrier?.send(list);",
    put: "",
    harness: "race",
    says: /a wait heard/,
  },
  {
    bug: "status as the sweeper left it",
    file: "src/verbs/read-ask.ts",
    find: "const asks = await Promise.all(found.map((one) => settleIfDue(ctx, one)));",
    put: "const asks = found.map((one) => one.ask);",
    harness: "model",
    says: /said .*"status":"(OPEN|PARTIAL)"[^]*should have said .*"status":"EXPIRED"/,
  },
  {
    bug: "another body under a used key gets what the key stands for",
    file: "src/verbs/create-ask.ts",
    find: "if (used && used.bodyHash !== key.bodyHash) throw",
    put: "if (false) throw",
    harness: "model",
    says: /should have said .*IDEMPOTENCY_MISMATCH/,
  },
  {
    bug: "two servers on one file",
    file: "src/store/server-lock.ts",
    find: "BEGIN EXCLUSIVE",
    put: "BEGIN",
    harness: "kill",
    says: /D8/,
  },
  {
    bug: "reads served for a moment from a node's memory",
    file: "src/verbs/read-ask.ts",
    find: "const found = await findAsk(ctx.db, askId);",
    put: `const kept = ((ctx as { kept?: Map<string, { found: AskAt | undefined; at: number }> }).kept ??= new Map());
  const last = kept.get(askId);
  const isFresh = last !== undefined && ctx.clock.monotonic() - last.at < 200;
  const found = isFresh ? last.found : await findAsk(ctx.db, askId);
  if (!isFresh) kept.set(askId, { found, at: ctx.clock.monotonic() });`,
    harness: "race",
    says: /after .* had (made or )?shown|a wait heard/,
  },
  {
    bug: "work is reviewed without a look at whether it still waits for that",
    file: "src/verbs/review-task.ts",
    find: `if (state !== "review" || commit === null || held.attempt !== attempt) {`,
    put: "if (commit === null) {",
    harness: "run",
    says: /(V2: the review of|A1)/,
  },
  {
    bug: "dependants start when a dependency has begun",
    file: "src/model/assignment.ts",
    find: `: STATUS[state] === "completed";`,
    put: `: STATUS[state] !== "error";`,
    harness: "run",
    fast: true,
    says: /J8|G4/,
  },
  {
    bug: "the next attempt does not wait for the one before to be dead",
    file: "src/store/aa-tasks.ts",
    find: "AND NOT EXISTS (SELECT 1 FROM aa_attempts a WHERE a.repo = t.repo AND a.id = t.id AND a.ended_at IS NULL)",
    put: "",
    harness: "run",
    says: /J9/,
  },
];

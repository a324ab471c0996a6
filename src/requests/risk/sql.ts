import { readSql } from "../facts/sql.ts";
import type { RiskFact, Judgement } from "./reason.ts";
import { unread } from "./reason.ts";

/** Judges SQL by what its statements do; what changes nothing only reads. */
export function judgedSql(sql: string): Judgement {
  const statements = readSql(sql);
  if (statements === null) return unread("SQL");
  const facts = statements.flatMap(({ verb, tables, hasWhere, loses, opens }): RiskFact[] => {
    const said = [verb, tables.slice(0, 3).join(", ")].filter((part) => part !== "").join(" ");
    const isWhole = (verb === "update" || verb === "delete") && !hasWhere;
    return [
      ...(loses ? [{ kind: "loses" as const, says: isWhole ? `${said}: no where` : said }] : []),
      ...opens.map((right): RiskFact => ({ kind: "opens", says: `${verb}: ${right}` })),
      ...(verb === "revoke" ? [{ kind: "loses" as const, says: said }] : []),
    ];
  });
  return { facts, onlyReads: statements.every(({ kind }) => kind === "reads" || kind === "session") };
}

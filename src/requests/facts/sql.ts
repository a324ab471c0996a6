import { sqlTokens, type SqlToken } from "./sql-tokens.ts";

/** One statement of SQL, as far as it can be told without a database. */
export interface SqlStatement {
  /** In small letters: `select`, `update`, `drop table`. */
  verb: string;
  /** `session` changes no data: a transaction, a setting. */
  kind: "reads" | "writes" | "defines" | "grants" | "session";
  /** The tables that it names, the one that it changes first. */
  tables: readonly string[];
  /** A condition chooses the rows; one that always holds, such as `1 = 1`, does not count. */
  hasWhere: boolean;
  /** Its data or a part of its definition is gone afterwards: of all rows of a table, or of what it drops. */
  loses: boolean;
  /** The rights that it gives which open every door, such as `all`, `superuser` or `grant option`. */
  opens: readonly string[];
}

/** Statements that change data within brackets of another one. */
const MOST_INNER = 20;
const READS = new Set(["select", "values", "table", "show", "describe", "desc", "explain"]);
const CHANGES = new Set(["insert", "replace", "upsert", "update", "delete", "merge", "truncate"]);
const SESSION = new Set(
  "begin commit rollback savepoint release start use end abort lock set reset discard analyze".split(" "),
);
const UPKEEP = new Set(["vacuum", "reindex", "cluster", "optimize", "refresh", "comment"]);
/** Each may begin a statement, and a dialect without semicolons runs it wherever it stands. */
const BEGINS = new Set(
  "insert update delete merge truncate drop alter create grant revoke exec execute call copy load".split(" "),
);
/** Before one of `BEGINS`, these make it a part of the statement that is under way. */
const JOINS = new Set("for on do then before after or of instead explain analyze key as no".split(" "));
const OBJECTS = new Set(
  (
    "table view index schema database sequence type domain function procedure trigger extension user role group tablespace " +
    "policy column constraint partition server publication subscription event keyspace collection"
  ).split(" "),
);
const FOLLOWED_BY_TABLE = new Set(["from", "join", "into", "update", "table", "truncate", "using"]);
const OPENS = new Set("all superuser createrole createdb bypassrls replication super sysadmin db_owner dba".split(" "));
const NOT_TABLES = new Set(
  "select lateral only if exists not set values unnest dual distinct table ignore concurrently".split(" "),
);
const FROM_OF_FUNCTION = new Set(["extract", "substring", "trim", "overlay", "position"]);
/** Functions that change nothing, whatever the dialect. */
const PURE = new Set(
  (
    "count sum avg min max now coalesce nullif ifnull isnull nvl lower upper length char_length trim ltrim rtrim left right " +
    "substring substr replace concat concat_ws round floor ceil ceiling abs mod power sqrt sign greatest least cast convert " +
    "extract date_trunc date_part date time datetime timestamp to_char to_date to_timestamp strftime year month day hour " +
    "date_add date_sub datediff date_format age interval row_number rank dense_rank lag lead first_value last_value over " +
    "partition ntile string_agg array_agg group_concat json_agg jsonb_agg json_extract json_value jsonb_array_elements " +
    "json_object jsonb_build_object unnest generate_series exists in any all some array row values and or not as on where by " +
    "using from join select when then else case having like ilike between filter within group current_date " +
    "current_timestamp current_user version to_tsvector to_tsquery plainto_tsquery position split_part regexp_replace " +
    "regexp_matches percentile_cont percentile_disc stddev variance md5 sha256 encode decode random width_bucket limit " +
    "offset union intersect except with recursive materialized int integer numeric decimal varchar char text bigint float " +
    "pg_size_pretty pg_total_relation_size pg_relation_size pg_table_size format initcap lpad rpad reverse typeof iif " +
    "conflict duplicate key total changes julianday unixepoch instr printf hex quote glob likelihood is only lateral tablesample"
  ).split(" "),
);

/**
 * Reads what each statement of a text does. Returns null if that is not certain: for a statement of another kind, for a
 * function that may do anything, for a text that dialects split differently. It never throws, and takes linear time.
 */
export function readSql(sql: string): SqlStatement[] | null {
  const tokens = sqlTokens(sql);
  if (tokens === null) return null;
  const statements: SqlStatement[] = [];
  for (const part of splitAtSemicolons(tokens)) {
    const all = part.length === 0 ? [] : readStatement(part);
    if (all === null) return null;
    statements.push(...all);
  }
  return statements.length === 0 ? null : statements;
}

function splitAtSemicolons(tokens: readonly SqlToken[]): SqlToken[][] {
  const parts: SqlToken[][] = [[]];
  for (const token of tokens) {
    if (isSign(token, ";")) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/** A statement can hold others that change data, each within brackets of its own. */
function readStatement(tokens: readonly SqlToken[]): SqlStatement[] | null {
  const depths = depthsOf(tokens);
  if (depths === null) return null;
  const inner: SqlStatement[] = [];
  const planned = mainVerbOf(tokens, depths);
  for (let at = 1; at < tokens.length; at += 1) {
    const word = wordAt(tokens, at);
    if (!BEGINS.has(word) || isSign(tokens[at + 1], "(") || isSign(tokens[at - 1], ".") || at === planned) continue;
    if (isSign(tokens[at - 1], "(") && CHANGES.has(word)) {
      if (inner.length === MOST_INNER) return null;
      const end = depths.findIndex((depth, i) => i > at && depth < (depths[at] ?? 0));
      inner.push(oneStatement(tokens.slice(at, end), word, depths.slice(at, end)));
    } else if (!JOINS.has(wordAt(tokens, at - 1)) && !isPartOfDefinition(tokens, at)) return null;
  }
  const main = mainStatement(tokens, depths);
  return main === null ? null : [...inner, main];
}

/** The verb behind `with …` or `explain …`; -1 for every other statement. */
function mainVerbOf(tokens: readonly SqlToken[], depths: readonly number[]): number {
  if (!["with", "explain"].includes(wordAt(tokens, 0))) return -1;
  return tokens.findIndex((_, i) => i > 0 && depths[i] === 0 && isMainVerb(tokens, i));
}

/** `alter table … drop column` and `grant select, update on …`. */
function isPartOfDefinition(tokens: readonly SqlToken[], at: number): boolean {
  const first = wordAt(tokens, 0);
  if (first === "alter") return ["drop", "alter"].includes(wordAt(tokens, at));
  if (first === "grant" || first === "revoke")
    return !["exec", "call", "copy", "load", "do"].includes(wordAt(tokens, at));
  return first === "merge" && wordAt(tokens, at - 1) === "then";
}

function mainStatement(tokens: readonly SqlToken[], depths: readonly number[]): SqlStatement | null {
  const first = wordAt(tokens, 0);
  if (first === "" && isSign(tokens[0], "(")) return mainStatement(tokens.slice(1), depths.slice(1));
  if (first === "explain") return explained(tokens, depths);
  if (first === "with") {
    const at = mainVerbOf(tokens, depths);
    return at < 0 || callsUnknown(tokens) ? null : mainStatement(tokens.slice(at), depths.slice(at));
  }
  if (["create", "alter", "drop", "rename"].includes(first)) return definition(tokens, depths, first);
  if (first === "pragma")
    return tokens.some((token) => isSign(token, "=")) ? null : oneStatement(tokens, first, depths);
  if (
    first === "set" &&
    ["role", "session", "global", "authorization", "password", "persist"].includes(wordAt(tokens, 1))
  )
    return null;
  const isKnown = [READS, CHANGES, SESSION, UPKEEP].some((known) => known.has(first));
  if (!isKnown && first !== "grant" && first !== "revoke") return null;
  if ((READS.has(first) || CHANGES.has(first)) && callsUnknown(tokens)) return null;
  return oneStatement(tokens, first, depths);
}

function isMainVerb(tokens: readonly SqlToken[], at: number): boolean {
  const word = wordAt(tokens, at);
  return (word === "select" || CHANGES.has(word)) && !isSign(tokens[at + 1], "(");
}

/** With `analyze` it runs the statement; else it only plans it. */
function explained(tokens: readonly SqlToken[], depths: readonly number[]): SqlStatement | null {
  const at = mainVerbOf(tokens, depths);
  if (at < 0) return null;
  const runs = tokens.slice(0, at).some(({ text }) => text === "analyze" || text === "analyse");
  const main = mainStatement(tokens.slice(at), depths.slice(at));
  if (main === null || runs) return main;
  return { ...main, verb: "explain", kind: "reads", loses: false };
}

function definition(tokens: readonly SqlToken[], depths: readonly number[], first: string): SqlStatement | null {
  const object = tokens.slice(1, 8).find(({ kind, text }) => kind === "word" && OBJECTS.has(text))?.text;
  if (object === undefined) return null;
  // The body of a routine runs later, and whoever triggers it.
  if (first !== "drop" && ["function", "procedure", "trigger", "event", "extension"].includes(object)) return null;
  const statement = oneStatement(tokens, first === "rename" ? first : `${first} ${object}`, depths);
  const from = tokens.findIndex(({ text }) => text === object) + 1;
  const on = tokens.findIndex((_, at) => wordAt(tokens, at) === "on");
  const named = namesFrom(tokens, object === "index" && on > 0 ? on + 1 : from);
  const name = statement.tables.length > 0 ? statement.tables : named;
  return {
    ...statement,
    tables: name,
    kind: "defines",
    loses: first === "drop" || (first === "alter" && alterLoses(tokens)),
  };
}

/** A column, a constraint or a partition goes, or values are made to fit another type. */
function alterLoses(tokens: readonly SqlToken[]): boolean {
  return tokens.some((_, at) => {
    const [word, next] = [wordAt(tokens, at), wordAt(tokens, at + 1)];
    if (word === "drop") return next !== "default" && !(next === "not" && wordAt(tokens, at + 2) === "null");
    return ["type", "modify", "change", "truncate", "detach"].includes(word) && at > 2;
  });
}

function oneStatement(tokens: readonly SqlToken[], first: string, depths: readonly number[]): SqlStatement {
  const hasWhere = choosesRows(tokens, depths);
  const isRead = (READS.has(first) || first === "pragma") && !hasTop(tokens, depths, "into") && !locks(tokens, depths);
  const isSession = SESSION.has(first);
  const isGrant = first === "grant" || first === "revoke";
  const words = tokens.flatMap(({ kind, text }) => (kind === "word" || kind === "quoted" ? [text.toLowerCase()] : []));
  return {
    verb: first,
    kind: isRead ? "reads" : isSession ? "session" : isGrant ? "grants" : "writes",
    tables: isGrant
      ? namesFrom(tokens, tokens.findIndex((_, at) => wordAt(tokens, at) === "on") + 1)
      : tablesOf(tokens),
    hasWhere,
    loses: first === "truncate" || ((first === "delete" || first === "update") && !hasWhere),
    opens: isGrant || /^(?:create|alter) (?:user|role|group)$/.test(first) ? opening(words) : [],
  };
}

function opening(words: readonly string[]): string[] {
  const opened = words.filter((word) => OPENS.has(word));
  const passesOn = words.some((word, i) => word === "with" && ["grant", "admin"].includes(words[i + 1] ?? ""));
  return passesOn ? [...opened, "grant option"] : opened;
}

function locks(tokens: readonly SqlToken[], depths: readonly number[]): boolean {
  return tokens.some(
    (_, at) =>
      depths[at] === depths[0] &&
      wordAt(tokens, at) === "for" &&
      ["update", "share", "no", "key"].includes(wordAt(tokens, at + 1)),
  );
}

/** One condition that always holds, alone or after `or`, chooses every row. */
function choosesRows(tokens: readonly SqlToken[], depths: readonly number[]): boolean {
  const at = tokens.findIndex((_, i) => depths[i] === depths[0] && wordAt(tokens, i) === "where");
  if (at < 0) return false;
  const condition = tokens.slice(at + 1);
  const starts = [0, ...condition.flatMap((_, i) => (wordAt(condition, i) === "or" ? [i + 1] : []))];
  return !starts.some((start) => isAlwaysTrue(condition, start));
}

function isAlwaysTrue(condition: readonly SqlToken[], start: number): boolean {
  let from = start;
  while (isSign(condition[from], "(")) from += 1;
  const [left, sign, right] = condition.slice(from, from + 3);
  if (left === undefined) return true;
  const isConstant = left.kind === "number" || left.kind === "text" || left.text === "true";
  if (sign === undefined || isSign(sign, ")") || ["or", "limit", "returning"].includes(sign.text)) {
    return isConstant && left.text !== "0";
  }
  return isSign(sign, "=") && right?.kind === left.kind && right.text === left.text;
}

/** A name with brackets behind it that is no known function: of a table with its columns, or of a function. */
function callsUnknown(tokens: readonly SqlToken[]): boolean {
  const columns = ["insert", "replace", "upsert"].includes(wordAt(tokens, 0))
    ? tokens.findIndex((one) => isSign(one, "("))
    : -1;
  return tokens.some(({ kind, text }, at) => {
    if ((kind !== "word" && kind !== "quoted") || !isSign(tokens[at + 1], "(") || PURE.has(text)) return false;
    return (
      at + 1 !== columns &&
      !["with", "recursive", "as", "explain"].includes(wordAt(tokens, at - 1)) &&
      text !== "explain"
    );
  });
}

function tablesOf(tokens: readonly SqlToken[]): string[] {
  const own = new Set(
    tokens.flatMap(({ text }, at) => (wordAt(tokens, at + 1) === "as" && isSign(tokens[at + 2], "(") ? [text] : [])),
  );
  const tables: string[] = [];
  let opener = "";
  tokens.forEach((token, at) => {
    if (isSign(token, "(")) opener = wordAt(tokens, at - 1);
    if (isSign(token, ")")) opener = "";
    const word = wordAt(tokens, at);
    if (!FOLLOWED_BY_TABLE.has(word) || isSign(tokens[at + 1], "(")) return;
    if (word === "from" && (FROM_OF_FUNCTION.has(opener) || wordAt(tokens, at - 1) === "distinct")) return;
    if (word === "update" && JOINS.has(wordAt(tokens, at - 1))) return;
    tables.push(...namesFrom(tokens, at + 1));
  });
  return [...new Set(tables)].filter((name) => !own.has(name));
}

/** The names that a list divided by commas begins with, without their aliases. */
function namesFrom(tokens: readonly SqlToken[], from: number): string[] {
  let at = from;
  while (NOT_TABLES.has(wordAt(tokens, at)) && tokens[at]?.kind === "word") {
    if (["select", "set", "values"].includes(wordAt(tokens, at))) return [];
    at += 1;
  }
  const names: string[] = [];
  for (; isName(tokens[at]); at += 1) {
    let name = tokens[at]?.text ?? "";
    for (; isSign(tokens[at + 1], ".") && isName(tokens[at + 2]); at += 2) name += `.${tokens[at + 2]?.text}`;
    if (isSign(tokens[at + 1], "(") && !["into", "table", "on"].includes(wordAt(tokens, from - 1))) break;
    names.push(name);
    at += 1;
    if (wordAt(tokens, at) === "as") at += 1;
    if (isName(tokens[at]) && isSign(tokens[at + 1], ",")) at += 1;
    if (!isSign(tokens[at], ",")) break;
  }
  return names;
}

function isName(token: SqlToken | undefined): boolean {
  return token?.kind === "word" || token?.kind === "quoted";
}

function hasTop(tokens: readonly SqlToken[], depths: readonly number[], word: string): boolean {
  return tokens.some((_, at) => depths[at] === depths[0] && wordAt(tokens, at) === word);
}

function wordAt(tokens: readonly SqlToken[], at: number): string {
  const token = tokens[at];
  return token?.kind === "word" ? token.text : "";
}

function isSign(token: SqlToken | undefined, sign: string): boolean {
  return token?.kind === "sign" && token.text === sign;
}

/** How many brackets are open at each token; null if they do not close. */
function depthsOf(tokens: readonly SqlToken[]): number[] | null {
  let depth = 0;
  const depths = tokens.map((token) => {
    if (isSign(token, "(")) depth += 1;
    else if (isSign(token, ")")) depth -= 1;
    return depth;
  });
  return depth === 0 && depths.every((each) => each >= 0) ? depths : null;
}

import { readCommand } from "../facts/command.ts";
import type { CommandWord, SimpleCommand } from "../../lib/shell/simple-command.ts";
import { DESTROYING, KNOWN, READING, runsTask, type Destroying } from "./programs.ts";
import { deletedFile, placeOf, secretFile, writtenFile } from "./paths.ts";
import { isProduction, unread, type RiskFact, type Judgement } from "./reason.ts";
import { judgedSql } from "./sql.ts";

const LONGEST_SAID = 80;

/** Judges a command by every program that it runs. The folder is where it runs; null if it is not known. */
export function judgedCommand(command: string | readonly string[], folder: string | null): Judgement {
  const commands = readCommand(command);
  if (commands === null) return unread("command");
  const all = commands.map((one) => judged(one, folder));
  const facts = all.flatMap((one) => one.facts);
  const onlyReads = all.every((one) => one.onlyReads);
  return { facts: onlyReads || facts.length > 0 ? facts : [...movedTo(commands, folder)], onlyReads };
}

/** In another folder, a script of the same name is another one. */
function movedTo(commands: readonly SimpleCommand[], folder: string | null): RiskFact[] {
  const other = commands.find(({ program, words: [to] }) => {
    if (program !== "cd" || to === undefined) return false;
    return !to.isExact || placeOf(to.text, folder).isOutside || /^\/(?:tmp|var\/tmp)\//.test(to.text);
  });
  return other === undefined ? [] : [{ kind: "unread", says: saidOf(other) }];
}

function judged(command: SimpleCommand, folder: string | null): Judgement {
  const { words } = command;
  const program = command.program.replace(/^\/(?:usr\/(?:local\/)?)?s?bin\//, "");
  const texts = words.map(({ text }) => text);
  const said = saidOf(command);
  if (startsOthers(program, texts)) return { facts: [], onlyReads: true };
  const facts: RiskFact[] = [...written(command, folder), ...secrets(program, words)];
  if (program === "sudo" || program === "doas") facts.push({ kind: "opens", says: said });
  const sql = sqlIn(program, texts);
  const sqlJudged = sql === null ? null : judgedSql(sql);
  facts.push(...(sqlJudged?.facts ?? []), ...deleted(program, words, folder));
  const destroying = Object.hasOwn(DESTROYING, program) ? DESTROYING[program] : undefined;
  if (destroying !== undefined && destroys(destroying, texts))
    facts.push({ kind: destroying.kind ?? "loses", says: said });
  const reads = readsOnly(program, texts) || (sqlJudged?.onlyReads ?? false);
  const isSure = facts.some(({ kind }) => kind !== "unread");
  const changes = !reads && !["git", "gh", "echo", "cd"].includes(program) && !/\bbuild\b/.test(texts.join(" "));
  if (changes && texts.some((text) => !/^--?(?:prod|production)$/.test(text) && isProduction(text))) {
    return { facts: [...facts, { kind: "place", says: said }], onlyReads: false };
  }
  if (isSure) return { facts, onlyReads: false };
  const hidden = words.some(({ text, isExact }) => !isExact && /(?:^|\/)\.[^/]*[[*?]/.test(text));
  const isKnown = reads || isOrdinary(program, texts);
  if (!isKnown || hidden) return { facts: [...facts, { kind: "unread", says: said }], onlyReads: false };
  return {
    facts,
    onlyReads: reads && command.redirects.every(({ operator, path }) => !operator.includes(">") || isNowhere(path)),
  };
}

const STARTERS = new Set(
  "timeout nice nohup time command stdbuf setsid ionice env xargs exec caffeinate flock".split(" "),
);

/** The programs behind such a one are judged themselves. */
function startsOthers(program: string, texts: readonly string[]): boolean {
  if (/^(?:ba|z|da|k|a|fi)?sh$/.test(program)) return texts.some((text) => /^-[a-z]*c/.test(text));
  if (program === "find") return texts.includes("-exec") && !texts.some((text) => /^-(?:delete|fprint|fls)/.test(text));
  return STARTERS.has(program) && texts.length > 0;
}

function saidOf({ program, words }: SimpleCommand): string {
  const said = [program, ...words.map(({ text }) => text)].join(" ");
  return said.length > LONGEST_SAID ? `${said.slice(0, LONGEST_SAID - 1)}…` : said;
}

function isNowhere(path: CommandWord | null): boolean {
  return path === null || path.text === "/dev/null";
}

const LAST_IS_WRITTEN = new Set("cp mv ln install rsync scp".split(" "));
const ALL_ARE_WRITTEN = new Set("tee touch truncate mkdir".split(" "));
const OUTPUT = /^(?:-o|-O|--output|--output-document|--out)$/;

/** Files that a program writes: by a redirection, by an option that names its output, or as its own subject. */
function written({ program, words, redirects }: SimpleCommand, folder: string | null): RiskFact[] {
  const paths: string[] = redirects.flatMap(({ operator, path }) =>
    operator.includes(">") && path !== null && !isNowhere(path) ? [path.text] : [],
  );
  const plain = words.map(({ text }) => text).filter((text) => !text.startsWith("-"));
  if (ALL_ARE_WRITTEN.has(program)) paths.push(...plain);
  if (LAST_IS_WRITTEN.has(program) && !/^[\w.@-]+:/.test(plain.at(-1) ?? "")) paths.push(...plain.slice(-1));
  if (program === "sed" && words.some(({ text }) => /^-(?:i|-in-place)/.test(text))) paths.push(...plain.slice(1));
  words.forEach(({ text }, at) => {
    const joined = /^(?:--output|--out|of|--log-file)=(.+)$/s.exec(text)?.[1];
    if (joined !== undefined) paths.push(joined);
    if (OUTPUT.test(text) && ["curl", "wget", "git", "gcc", "openssl", "sort", "tsc"].includes(program))
      paths.push(words[at + 1]?.text ?? "");
  });
  const network = redirects.some(({ path }) => path?.text.startsWith("/dev/tcp/") ?? false);
  const facts = paths.flatMap((path) => writtenFile(path, folder) ?? []);
  return network ? [...facts, { kind: "place", says: redirects.map(({ path }) => path?.text).join(" ") }] : facts;
}

/** A name that a program is given may be that of a private key, whatever it does with it. */
function secrets(program: string, words: readonly CommandWord[]): RiskFact[] {
  if (["git", "echo", "printf", "grep", "rg", "gh"].includes(program)) {
    return words
      .slice(program === "git" || program === "gh" ? 1 : 0)
      .flatMap(({ text }) => (/\s/.test(text) ? [] : (secretFile(text) ?? [])));
  }
  return words.flatMap(({ text }) => secretFile(text.replace(/^--?[\w-]+=/, "")) ?? []);
}

function deleted(program: string, words: readonly CommandWord[], folder: string | null): RiskFact[] {
  const texts = words.map(({ text }) => text);
  const isFind = program === "find" && texts.includes("-delete");
  if (isFind) return [{ kind: "loses", says: `find ${texts.join(" ")}`.slice(0, LONGEST_SAID) }];
  if (!["rm", "rmdir", "unlink", "shred", "trash"].includes(program)) return [];
  const isWhole = texts.some((text) => /^-\w*[rR]|^--recursive/.test(text));
  const paths = words.filter(({ text }) => !text.startsWith("-"));
  // Names that another program finds may be of anything.
  const facts = paths.flatMap(({ text, isExact }) => {
    const isFound = !isExact && /^…$|\{\}/.test(text);
    return isFound ? { kind: "loses" as const, says: text } : (deletedFile(text, folder, isWhole) ?? []);
  });
  return facts.map((fact) => ({
    ...fact,
    says: `${[program, ...texts.filter((text) => text.startsWith("-"))].join(" ")} ${fact.says}`,
  }));
}

function destroys({ words = [], options }: Destroying, texts: readonly string[]): boolean {
  if (options === undefined && words.length === 0) return true;
  const has = words.some((phrase) => hasPhrase(texts, phrase.split(" ")));
  return has || (options?.test(` ${texts.join(" ")} `) ?? false);
}

/** The words of a phrase stand in this order, with options between them. */
function hasPhrase(texts: readonly string[], phrase: readonly string[]): boolean {
  let at = 0;
  for (const text of texts) {
    if (text === phrase[at] || (phrase[at]?.endsWith("*") && text.startsWith(phrase[at]?.slice(0, -1) ?? ""))) at += 1;
    if (at === phrase.length) return true;
  }
  return false;
}

function sqlIn(program: string, texts: readonly string[]): string | null {
  if (!/^(?:psql|mysql|mariadb|sqlite3|duckdb|clickhouse-client|sqlcmd)$/.test(program)) return null;
  const at = texts.findIndex((text) => /^(?:-c|-e|-Q|-q|--command|--execute|--query)$/.test(text));
  if (at >= 0) return texts[at + 1] ?? "";
  const joined = texts
    .map((text) => /^--(?:command|execute|query)=(.*)$/s.exec(text)?.[1])
    .find((text) => text !== undefined);
  return joined ?? texts.filter((text) => !text.startsWith("-"))[1] ?? "";
}

function readsOnly(program: string, texts: readonly string[]): boolean {
  if (/^--?version$|^--help$/.test(texts[0] ?? "")) return KNOWN.has(program) || Object.hasOwn(READING, program);
  if (!Object.hasOwn(READING, program)) return false;
  const pattern = READING[program];
  return pattern === undefined || pattern === null || pattern.test(texts.join(" "));
}

/** Whether a program is one of those that build, test and fetch within a working copy. */
function isOrdinary(program: string, texts: readonly string[]): boolean {
  if (Object.hasOwn(READING, program) && READING[program] === null) return true;
  if (runsTask(program, texts)) return false;
  const known = KNOWN.get(program);
  return known !== undefined && (known === null || known.test(texts.join(" ")));
}

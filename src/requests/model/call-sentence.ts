import { changesIn, type StateChange } from "../facts/changes.ts";
import { commandIn, type CalledCommand } from "../facts/commands.ts";
import { filesIn, inFolder, type ChangedFiles } from "../facts/files.ts";
import { headOf, type FunctionWords } from "../facts/function-name.ts";
import { textOf, type ArgumentLeaf } from "../facts/leaves.ts";
import { mailIn, type Mail } from "../facts/mail.ts";
import { roleOf, type ArgumentRole } from "../facts/roles.ts";
import { statementsIn, type Statement } from "../facts/statements.ts";
import type { Sorted } from "../facts/labels.ts";
import { amountParts, changeParts } from "./amount-parts.ts";
import { factParts } from "./argument-parts.ts";
import { bare, coded, joined, pathText, quoted, type Part } from "./sentence-parts.ts";
import type { SentenceWords } from "./sentence-words.ts";

/** Names of tools that run a command or a statement, and say nothing more. */
const RUNNERS = new Set(
  "run shell command bash execute exec terminal local tool call script powershell cmd query sql database statement code process write stdin read ask".split(
    " ",
  ),
);
const FOLDERS = /^(?:tool_)*cwd$|^(?:work(?:ing)?_?dir(?:ectory)?|dir_path|directory|cwd)$/i;

/** The action of a call, with the leaves that it has said. */
interface Action {
  head: string;
  parts: Part[];
  said: readonly ArgumentLeaf[];
  /** A tool of a coding agent: other arguments are its settings. */
  isTool: boolean;
}

/** Returns the sentence of a call, with the agent's own behind it. */
export function sentenceOfCall(
  fn: string,
  all: readonly ArgumentLeaf[],
  say: SentenceWords,
  own: string | null,
): string {
  const called = headOf(fn);
  const folder = folderOf(all);
  const leaves = all.filter(({ path }) => !(path.length === 1 && path[0] === "cwd"));
  const action = commandAction(commandIn(fn, leaves), called, leaves, { folder, say }) ??
    statementAction(called, leaves, say) ??
    mailAction(called, leaves, say) ??
    fileAction(called, leaves, folder, say) ?? { head: called.head, parts: [], said: [], isTool: false };
  const rest = leaves.filter((leaf) => !action.said.includes(leaf) && !isRepeated(leaf, leaves));
  const changes = action.isTool ? [] : changesIn(rest);
  const sorted = sortedByRole(rest, changes);
  const isAlone = action.parts.length === 0;
  const ownPart: Part[] = own === null ? [] : [{ joint: ", ", weight: 8, say: () => own }];
  const parts = [
    ...action.parts,
    ...factParts({
      ...sorted,
      all: leaves,
      isTool: action.isTool,
      isAlone,
      called,
      say,
      folder,
      money: [...changeParts(changes, called, leaves), ...amountParts(sorted, called, leaves)],
    }),
    ...ownPart,
    ...(called.server === ""
      ? []
      : [{ joint: ", ", weight: 1, say: (most: number) => bare(called.server, most) } as Part]),
  ];
  return joined(headWithout(action.head, parts, sorted), parts);
}

/** "Transfer money 250 EUR" says the money twice. */
function headWithout(head: string, parts: readonly Part[], { byRole }: Sorted): string {
  return parts.length > 0 && byRole("amount").length > 0 ? head.replace(/ (?:money|funds|amount)$/, "") : head;
}

function folderOf(leaves: readonly ArgumentLeaf[]): string | null {
  const leaf = leaves.find(({ path }) => path.length === 1 && path[0] === "cwd");
  return leaf ? textOf(leaf) : null;
}

/** Some agents send what they ask about twice. */
function isRepeated({ value, path }: ArgumentLeaf, all: readonly ArgumentLeaf[]): boolean {
  if (value.kind !== "list" || path.at(-1) !== "patterns") return false;
  return value.items.every((item) => all.some((leaf) => textOf(leaf) === item));
}

function sortedByRole(leaves: readonly ArgumentLeaf[], changes: readonly StateChange[]): Sorted {
  const inChanges = new Set(changes.flatMap(({ before, after }) => [before, after]));
  const roles = new Map<ArgumentLeaf, ArgumentRole>(
    leaves.filter((leaf) => !inChanges.has(leaf)).map((leaf) => [leaf, roleOf(leaf)]),
  );
  return {
    changes,
    byRole: (...wanted) => [...roles].flatMap(([leaf, role]) => (wanted.includes(role) ? [leaf] : [])),
  };
}

function commandAction(
  command: CalledCommand | null,
  called: FunctionWords,
  leaves: readonly ArgumentLeaf[],
  { folder, say }: { folder: string | null; say: SentenceWords },
): Action | null {
  const diff = filesIn(leaves);
  if (diff?.lines && "added" in diff.lines) return null;
  if (!command || (diff && !/\s/.test(command.text))) return null;
  const where = leaves.find(({ path }) => FOLDERS.test(path.at(-1) ?? ""));
  const place = where ? (textOf(where) ?? "") : "";
  const isElsewhere = place !== "" && place !== "." && place !== folder;
  const near = inFolder(place, folder);
  const parts: Part[] = [{ joint: " ", weight: Infinity, say: (most) => coded(command.text, 2 * most) }];
  if (isElsewhere) parts.push({ joint: " ", weight: 10, say: (most) => say.in(pathText(near, most)) });
  const others = called.words.filter((word) => !RUNNERS.has(word) && !called.server.includes(word));
  const isProgram = command.text.toLowerCase().startsWith(`${called.head.toLowerCase()} `);
  if (others.length > 0 && !isProgram) parts.push({ joint: ", ", weight: 2, say: (most) => bare(called.head, most) });
  return { head: say.run, parts, said: [...command.leaves, ...(where ? [where] : [])], isTool: true };
}

function statementAction(called: FunctionWords, leaves: readonly ArgumentLeaf[], say: SentenceWords): Action | null {
  const found = statementsIn(leaves);
  if (!found) return null;
  const { leaf, statements } = found;
  const share = statements.length > 1 ? 1.1 : 2;
  const parts = statements.slice(0, 3).flatMap((one, i): Part[] => {
    const weight = i === 0 || one.destroys || one.isWithoutWhere ? Infinity : 7;
    const text: Part = {
      joint: i === 0 ? " " : ", ",
      weight,
      say: (most) => statementText(one, Math.floor(share * most)),
    };
    return one.isWithoutWhere ? [text, { joint: ", ", weight: Infinity, say: () => say.noWhere }] : [text];
  });
  if (statements.length > 3) parts.push({ joint: " ", weight: Infinity, say: () => say.more(statements.length - 3) });
  const others = called.words.filter((word) => !RUNNERS.has(word) && !called.server.includes(word));
  if (others.length > 0) parts.push({ joint: ", ", weight: 2, say: (most) => bare(called.head, most) });
  return { head: say.run, parts, said: [leaf], isTool: false };
}

/** A statement that is cut names its tables all the same. */
function statementText({ text, tables }: Statement, most: number): string {
  const shown = coded(text, most);
  const missing = tables.filter((table) => !shown.toLowerCase().includes(table.toLowerCase()));
  return missing.length === 0
    ? shown
    : `${shown} (${missing
        .slice(0, 2)
        .map((table) => bare(table, 40))
        .join(", ")})`;
}

function mailAction(called: FunctionWords, leaves: readonly ArgumentLeaf[], say: SentenceWords): Action | null {
  const mail = mailIn(called.words, leaves);
  if (!mail) return null;
  const { receivers } = mail;
  const [first = ""] = receivers;
  const more = receivers.length > 1 ? ` ${say.more(receivers.length - 1)}` : "";
  const parts: Part[] = [
    { joint: " ", weight: Infinity, say: (most) => `${say.to(bare(first, most))}${more}` },
    ...leaves
      .filter((leaf) => leaf.value.kind === "number" && roleOf(leaf) === "count")
      .map((leaf): Part => {
        const count = textOf(leaf) ?? "";
        return { joint: ", ", weight: Infinity, say: () => `${count} ${say.recipients}` };
      }),
  ];
  const about = textOfMail(mail);
  if (about !== null) parts.push({ joint: ": ", weight: Infinity, say: (most) => quoted(about, most) });
  const counts = leaves.filter((leaf) => roleOf(leaf) === "count");
  return { head: called.head, parts, said: [...mail.leaves, ...counts], isTool: false };
}

/** A message without a subject is told by its first words. */
function textOfMail({ subject, bodies }: Mail): string | null {
  const [body] = bodies;
  return subject ? textOf(subject) : body ? textOf(body) : null;
}

function fileAction(
  called: FunctionWords,
  leaves: readonly ArgumentLeaf[],
  folder: string | null,
  say: SentenceWords,
): Action | null {
  const change = filesIn(leaves);
  if (!change || (change.lines === null && leaves.length > 4)) return null;
  const [first = "", ...others] = change.files.map((file) => inFolder(file, folder));
  const shown = [first, ...others.slice(0, 1)].filter((file) => file !== "");
  const more = others.length > 1 ? ` ${say.more(others.length - 1)}` : "";
  const parts: Part[] = [
    { joint: " ", weight: Infinity, say: (most) => `${shown.map((file) => pathText(file, most)).join(", ")}${more}` },
    ...linesPart(change, say),
    ...deletedPart(change, folder, say),
  ];
  return {
    head: called.head,
    parts: first === "" ? parts.slice(1) : parts,
    said: change.leaves,
    isTool: change.lines !== null,
  };
}

function deletedPart({ deleted }: ChangedFiles, folder: string | null, say: SentenceWords): Part[] {
  const [first, ...others] = deleted;
  if (first === undefined) return [];
  const more = others.length > 0 ? ` ${say.more(others.length)}` : "";
  const file = inFolder(first, folder);
  return [{ joint: ", ", weight: Infinity, say: (most) => `${say.deletes(pathText(file, most))}${more}` }];
}

function linesPart({ lines }: ChangedFiles, say: SentenceWords): Part[] {
  if (lines === null) return [];
  const text = "written" in lines ? say.lines(lines.written) : `+${lines.added} −${lines.removed}`;
  return [{ joint: "written" in lines ? ", " : " ", weight: Infinity, say: () => text }];
}

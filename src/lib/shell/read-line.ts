import { forEachChild, parse, type Command, type Redirection, type SyntaxNode, type Word, type WordPart } from "unbash";
import { changesMeaning, CHOOSES_PROGRAM, SHELLS, setsProgram } from "./changed-meaning.ts";
import { runsCode } from "./program-code.ts";
import type { Expansion, ShellCommand, ShellLine, ShellRedirect, ShellWord, Surrounding } from "./shell-line.ts";
import type { UnreadReason } from "./shell-line.ts";

const LONGEST_LINE = 16_384;
const MOST_COMMANDS = 200;
/** A parser needs longer for each substitution within another. */
const MOST_SUBSTITUTIONS = 40;
/** Nodes of the tree within one another: about five for a substitution, three for a group. */
const MOST_LEVELS = 100;
const OPENS_LEVEL = /[$<>(]\(|\$\{|`/g;
/** Characters that a person does not see, or takes for a blank where a shell takes them for a part of a word. */
const UNSEEN = /[^\P{C}\n\t]|[\p{Z}--\x20]|[\p{DI}--\ufe0f]|\u2800/v;
/** Programs of this language alone: a letter of another alphabet may look like one of it. */
const PROGRAM_NAME = /^[\x21-\x7e]+$/;
const NUMERALS = /^[\d\s+\-*/%()<>=!&|^~?:,]*$/;
/** A sum for bash alone; and a broken line behind `$`, which the parser does not see. */
const DIFFERS = /\$(?:\[|\\\n)/;

class Unread extends Error {
  readonly reason: UnreadReason;
  constructor(reason: UnreadReason) {
    super(reason);
    this.reason = reason;
  }
}

/** The constructs around a node, the standard input that it has from them, and how deep it stands. */
interface Place {
  surroundings: readonly Surrounding[];
  hasInput: boolean;
  level: number;
}

/**
 * Reads every command of a line as bash does, also those within substitutions, groups, loops and conditions. A command
 * that a program starts by its words, as `sudo` does, is not among them.
 *
 * Nothing is guessed. A line is unread if it is longer than 16,384 characters, nests deeply, holds a character that a
 * person does not see, is wrong in bash, means another thing in sh or zsh, or changes what its own words mean: by a
 * function, an alias, `eval`, a file that is sourced, a variable that chooses programs, a sum that evaluates a name, or
 * a here-document for an interpreter. A name of a program is literal and in ASCII. It never throws.
 */
export function readShellLine(line: string): ShellLine {
  try {
    return { kind: "read", commands: readCommands(line) };
  } catch (error) {
    return { kind: "unread", reason: error instanceof Unread ? error.reason : "syntax" };
  }
}

function readCommands(line: string): ShellCommand[] {
  if (line.length > LONGEST_LINE) throw new Unread("too long");
  if (UNSEEN.test(line)) throw new Unread("unseen character");
  if ((line.match(OPENS_LEVEL)?.length ?? 0) > MOST_SUBSTITUTIONS) throw new Unread("too deep");
  if (DIFFERS.test(line)) throw new Unread("shells differ");
  // A shell takes a backslash at the very end for itself, another one for a line that goes on.
  if (/(?<!\\)(?:\\\\)*\\\n?$/.test(line)) throw new Unread("syntax");
  const commands: ShellCommand[] = [];
  const read = (node: SyntaxNode, place: Place): void => {
    if (place.level > MOST_LEVELS || commands.length >= MOST_COMMANDS) throw new Unread("too deep");
    checkNode(node, line, place);
    const command = commandOf(node, place);
    if (command !== null) commands.push(command);
    forEachChild(node, (child) => read(child, placeOf(node, child, place)));
  };
  read(parse(line), { surroundings: [], hasInput: false, level: 0 });
  return commands;
}

/** Nodes that no line may have: their meaning is not in their words alone, or one shell knows them and another does not. */
const REFUSED: Partial<Record<SyntaxNode["type"], UnreadReason>> = {
  Function: "changed meaning",
  Coproc: "changed meaning",
  ArithmeticCommand: "shells differ",
  ArithmeticFor: "shells differ",
  ExtendedGlob: "shells differ",
  FileDescriptorVariable: "shells differ",
  TestLogical: "shells differ",
  TestGroup: "shells differ",
};
/** All but those that evaluate the text of a name. */
const PLAIN_TESTS = /^(?:-[a-uw-zA-QS-Z]|==?|!=)$/;

/** A sign of a comment behind a closing bracket. */
const BEHIND_BRACKET = /\)(?:\\\n)*#/;
/** A shell that does not know `$'...'` takes another line for the end of a here-document. */
const PLAIN_DELIMITER = /^(?:'[^'\\$`]+'|"[^"\\$`]+"|[^'"\\$`]+)$/;

/** @throws {Unread} for a construct that is refused, or that is not whole */
function checkNode(node: SyntaxNode, line: string, { surroundings }: Place): void {
  const refused = REFUSED[node.type];
  if (refused !== undefined) throw new Unread(refused);
  if (node.type === "Script" && (node.errors?.length ?? 0) > 0) throw new Unread("syntax");
  if (node.type === "Pipeline" && node.commands.length === 0) throw new Unread("syntax");
  if (node.type === "Command") checkPlaces(node, line);
  if (node.type === "Redirected") checkFiles(node.redirects, line);
  // Some releases of bash refuse it.
  if (node.type === "Time" && surroundings.includes("substitution")) throw new Unread("shells differ");
  if (node.type === "HereDocDelimiter" && !PLAIN_DELIMITER.test(node.text)) throw new Unread("shells differ");
  if (node.type === "HereDoc" && (node.delimiter === undefined || node.closing === undefined))
    throw new Unread("syntax");
  if (node.type === "For" || node.type === "Select") checkVariable(node.name.value);
  if (node.type === "Assignment") {
    checkSum(node.index?.text ?? "");
    checkVariable(node.name);
  }
  if (node.type === "ParameterExpansion") checkParameter(node);
  if (node.type === "ArithmeticExpansion") checkSum(node.text.slice(3, -2));
  // The parser takes a `#` behind it for a comment; for bash it belongs to the word.
  if (node.type === "ProcessSubstitution" && BEHIND_BRACKET.test(line)) throw new Unread("syntax");
  if (node.type === "CommandExpansion" || node.type === "ProcessSubstitution") {
    if (node.script === undefined) throw new Unread("syntax");
    if (/^(?:\$\{|`[^]*\\)/.test(node.text)) throw new Unread("shells differ");
  }
  // A quote ends at this one for a shell that does not know the form $'...'; the parser drops a broken line within it.
  if (node.type === "AnsiCQuoted" && /\\['\n]/.test(node.text)) throw new Unread("shells differ");
  const isTest = node.type === "TestUnary" || node.type === "TestBinary";
  if (isTest && !PLAIN_TESTS.test(node.operator)) throw new Unread("evaluation");
}

/** Bash refuses an opening bracket behind a word, `>2>&1`, and `> x=(a)`; the parser takes them. */
function checkPlaces({ name, args, redirects }: Command, line: string): void {
  const files = checkFiles(redirects, line);
  // A shell that does not know `&>` takes the words behind it for another command.
  const both = redirects.find(({ operator }) => operator.startsWith("&>"));
  const last = args.at(-1) ?? name;
  if (both && last && both.pos < last.pos) throw new Unread("shells differ");
  const bracket = /(?:[ \t]|\\\n)*\(/y;
  for (const { end } of name === undefined ? files : [name, ...args, ...files]) {
    bracket.lastIndex = end;
    if (bracket.test(line)) throw new Unread("syntax");
  }
}

function checkFiles(redirects: readonly Redirection[], line: string): Word[] {
  const files = redirects.flatMap((one) => (one.type === "HereDoc" || one.target === undefined ? [] : [one.target]));
  // Bash runs `rm` for `>&-rm`; for the parser it is a file.
  const isClosed = redirects.some((one) => one.operator.endsWith("&") && /^-./.test(textOf(one)));
  const isList = files.some(({ text }) => /^\w+\+?=\(/.test(text));
  if (isList || isClosed || files.some(({ text, end }) => /^\d+$/.test(text) && /[<>]/.test(line.charAt(end))))
    throw new Unread("syntax");
  return files;
}

function textOf(redirect: Redirection): string {
  return redirect.type === "HereDoc" ? "" : (redirect.target?.text ?? "");
}

/** A loop, an assignment or an expansion that sets a variable on which programs depend. */
function checkVariable(name: string): void {
  if (CHOOSES_PROGRAM.test(name)) throw new Unread("variable");
}

/** A shell evaluates the text of each name in a sum once more, and a subscript there may run a command. */
function checkSum(sum: string): void {
  if (!NUMERALS.test(sum)) throw new Unread("evaluation");
}

function checkParameter({ prefix, index, operation, parameter }: SyntaxNode & { type: "ParameterExpansion" }): void {
  if (prefix === "!" || operation?.type === "Transform" || operation?.type === "Unknown")
    throw new Unread("evaluation");
  if (index !== undefined && index.text !== "@" && index.text !== "*") checkSum(index.text);
  if (operation?.type === "Slice") checkSum(`${operation.offset.text} ${operation.length?.text ?? ""}`);
  if (operation?.type === "Default" && operation.operator.endsWith("=")) checkVariable(parameter);
}

function placeOf(node: SyntaxNode, child: SyntaxNode, place: Place): Place {
  const inner = surroundingOf(node, child);
  const hasInput =
    (node.type === "Pipeline" && node.commands.indexOf(child as never) > 0) ||
    (node.type === "ProcessSubstitution" && node.operator === ">") ||
    (node.type === "Redirected" && node.redirects.some(givesInput));
  return {
    surroundings:
      inner === null || place.surroundings.includes(inner) ? place.surroundings : [...place.surroundings, inner],
    hasInput: place.hasInput || hasInput,
    level: place.level + 1,
  };
}

const SURROUNDINGS: Partial<Record<SyntaxNode["type"], Surrounding>> = {
  Subshell: "subshell",
  If: "conditional",
  Case: "conditional",
  While: "loop",
  For: "loop",
  Select: "loop",
  CommandExpansion: "substitution",
  ProcessSubstitution: "substitution",
};

function surroundingOf(node: SyntaxNode, child: SyntaxNode): Surrounding | null {
  if (node.type === "Pipeline") return node.commands.length > 1 ? "pipeline" : null;
  if (node.type === "AndOr") return child === node.commands[0] ? null : "conditional";
  if (node.type === "Statement") return node.background === true ? "background" : null;
  return SURROUNDINGS[node.type] ?? null;
}

function commandOf(node: SyntaxNode, { surroundings, hasInput }: Place): ShellCommand | null {
  const nothing = { program: "", words: [], redirects: [], sets: [], hasInput, surroundings };
  if (node.type === "Command") return simpleCommand(node, nothing);
  if (node.type === "Redirected") return { ...nothing, redirects: node.redirects.map(redirectOf) };
  if (node.type !== "TestCommand") return null;
  const test: ShellWord = { text: "", isExact: false, expansions: [{ kind: "test", at: 0, text: "" }] };
  return { ...nothing, program: "[[", words: [test] };
}

function simpleCommand(node: Command, nothing: ShellCommand): ShellCommand {
  const sets = [...node.prefix, ...node.suffix].flatMap((one) => (one.type === "Assignment" ? [one.name] : []));
  const redirects = node.redirects.map(redirectOf);
  if (node.name === undefined) return { ...nothing, redirects, sets };
  const program = wordOf(node.name);
  if (!program.isExact || !PROGRAM_NAME.test(program.text)) throw new Unread("program name");
  const words = node.args.map((one) => (one.type === "Word" ? wordOf(one) : assignedWord(one.text)));
  const hasInput = nothing.hasInput || node.redirects.some(givesInput);
  const command = { ...nothing, program: program.text, words, redirects, sets, hasInput };
  if (changesMeaning(command)) throw new Unread("changed meaning");
  if (setsProgram(command)) throw new Unread("variable");
  const base = program.text.slice(program.text.lastIndexOf("/") + 1);
  const hasText = node.redirects.some(({ type }) => type !== "Redirect");
  if (hasText && (SHELLS.has(base) || runsCode({ ...command, program: base }))) throw new Unread("code by input");
  return command;
}

function givesInput({ operator }: Redirection): boolean {
  return operator.startsWith("<");
}

function redirectOf(redirect: Redirection): ShellRedirect {
  const { operator, descriptor } = redirect;
  const target = redirect.type === "HereDoc" ? redirect.delimiter : redirect.target;
  if (target === undefined) throw new Unread("syntax");
  return {
    operator,
    descriptor: descriptor?.type === "FileDescriptor" ? descriptor.value : null,
    path: target.type === "Word" ? wordOf(target) : { text: target.value, isExact: true, expansions: [] },
  };
}

function assignedWord(text: string): ShellWord {
  return { text, isExact: false, expansions: [{ kind: "assignment", at: 0, text }] };
}

const KINDS: Partial<Record<WordPart["type"], Expansion["kind"]>> = {
  SimpleExpansion: "variable",
  ParameterExpansion: "variable",
  CommandExpansion: "substitution",
  ProcessSubstitution: "substitution",
  ArithmeticExpansion: "arithmetic",
  Glob: "glob",
  ExtendedGlob: "glob",
  BraceExpansion: "brace",
  LocaleString: "translation",
};
/** A home folder, also behind `=` and `:`; and in zsh `=ls`, the path of a program. */
const TILDE = /^[~=]|[=:]~/;
const QUOTED = /^(?:'[^']*'|"[^"]*")$/;

const QUOTES = /\$'(?:[^'\\]|\\[^])*'|\\[^]|'[^']*'|"(?:[^"\\]|\\[^])*"/g;
const OPERATOR = /[<>()`;&|]|\$[\w{]/;

function wordOf(word: Word): ShellWord {
  const expansions: Expansion[] = [];
  const read = (part: WordPart): void => {
    const kind = KINDS[part.type];
    if (kind !== undefined) expansions.push({ kind, at: part.pos - word.pos, text: part.text });
    else if (part.type === "DoubleQuoted") part.parts.forEach(read);
  };
  word.parts?.forEach(read);
  const tilde = TILDE.exec(word.text);
  if (tilde !== null) expansions.push({ kind: "tilde", at: tilde.index, text: tilde[0] });
  const brace = expansions.length === 0 && !QUOTED.test(word.text) ? braceAt(word.text) : -1;
  if (brace >= 0) expansions.push({ kind: "brace", at: brace, text: word.text.slice(brace) });
  // The parser takes `1<(rm)` for a word that is exact; bash runs `rm`.
  if (expansions.length === 0 && OPERATOR.test(word.text.replace(QUOTES, ""))) throw new Unread("syntax");
  return { text: word.value, isExact: expansions.length === 0, expansions };
}

/** The place of a brace around a comma or two dots, which a shell may expand; -1 without one. */
function braceAt(text: string): number {
  const opens: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "{") opens.push(at);
    if (text[at] === "}") opens.pop();
    if (opens[0] !== undefined && (text[at] === "," || text.startsWith("..", at))) return opens[0];
  }
  return -1;
}

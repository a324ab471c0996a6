import type { Dice } from "./sim-dice.ts";

/** Programs that the sandbox has as stubs; `no` fails, and ends the loops of these lines. */
export const PROGRAMS = "a b c no git npm rm cat echo true test [ find".split(" ");
/** Programs that start others by their words. */
export const STARTERS = ["env", "timeout", "nice", "nohup", "xargs", "bash", "sh"];

const WORDS =
  "x y log -1 x1 a=b -o --x=y 2 1 'd␣e' \"d␣e\" d\\␣e \"\" '' ''x x\"\"y .. ../x .git ./x /etc/x \\* '*' \"*\" \\$x \"\\$x\" '$x' '`' x#y ! !x " +
  "^x % @ + , : x: x=y {} {x} a{b} x, HEAD@{1} -- - \\a \\\\ \"\\\\\" 'it'\\''s' x\\\ny \"x\\\ny\" 'x\ny' [ ] x] then fi do in } É";
const ODD_WORDS =
  '~ ~/x a=~ x* ? [x]1 x[12] {a,b} {1..2} x{a,b}y {a,\'b␣c\'} $x "$x" ${x} ${x:-y} ${x:=y} "${x:-y␣z}" ${#x} ${x%y} ${x/y/z} ${!x} ${x@P} ' +
  "$((1+2)) $((x)) $[1+2] $'x' $'x\\ty' $'\\x2d' $'it\\'s' $\"x\" $ \"$\" $@ $1 $? $$ =a x=~ #x \"!\" !! \\~ ''~ \"~\" a={b,c} *(x) @(x|y) +(x) <(:) " +
  '${x-\'}\'} "${x-\'}\'}" ${x:-"}"} "${x:-"y"}" `:` 2>x 1x {x';

const PLAIN_REDIRECTS = [">/dev/null", "2>&1", "2>/dev/null", ">&2", "&>/dev/null", "> /dev/null", ">>/dev/null"];
const REDIRECTS =
  ">y >>y <x1 <<<x <>x1 >|y 2>&- >&- {fd}>y >&y &>>y 3>y 0<x1 <&0 2>y 1>&2 >'y' >$x >\"\" >/dev/null/../y 2>&1y >& 1y <<<$x >&-y &>y 2>&$x >~ >x* 12>y >{a,b}";
const ASSIGNMENTS =
  "X=1 X= X+=1 X[0]=1 X=(a␣b) PATH=. IFS=x X=~ X=$x X=a\\␣b X={a,b} x=y X==y X='a' BASH_ENV=y X[$x]=1 declare export";
const PUTS = [
  ..."; & | < > ( ) { } ` $ ' \" \\ # ! = * ~ [ ] - a",
  "\n",
  " ",
  "\t",
  "&&",
  "||",
  ";;",
  "$(",
  "<<",
  "((",
  "))",
];

/** A blank within a word is written as ␣. */
const split = (text: string): readonly string[] => text.split(" ").map((word) => word.replaceAll("␣", " "));

const PLAIN = split(WORDS);
const ODD = split(ODD_WORDS);
const REDIRECT = split(REDIRECTS);
const ASSIGNMENT = split(ASSIGNMENTS);

/** Returns a random line of a shell: a valid one, or one in which a character or two are wrong. Some are mild. */
export function lineOf(dice: Dice): string {
  const line = new Lines(dice, dice.pick([0, 0.05, 0.3])).list(dice.between(1, 3));
  if (!dice.chance(0.3)) return line;
  return Array.from({ length: dice.between(1, 2) }).reduce<string>((text) => {
    const at = dice.int(text.length + 1);
    return `${text.slice(0, at)}${dice.chance(0.6) ? dice.pick(PUTS) : ""}${text.slice(at + dice.int(2))}`;
  }, line);
}

/** The grammar. `odd` is how often there is something that a policy would hardly allow. */
class Lines {
  readonly #dice: Dice;
  readonly #odd: number;

  constructor(dice: Dice, odd: number) {
    this.#dice = dice;
    this.#odd = odd;
  }

  /** `deep` is how many constructs may stand within one another. */
  list(deep: number): string {
    const { between, chance, pick } = this.#dice;
    let text = this.pipeline(deep);
    for (let more = between(0, 2); more > 0; more -= 1) {
      const joint = text.endsWith("\n") ? "" : pick([" && ", " || ", "; ", "\n", " & ", ";", "&&", " &&\n", "\n\n"]);
      text += `${joint}${this.pipeline(deep)}`;
    }
    return chance(0.05) ? `${text} # ${pick(["x", "$(a)", "; rm x", "'", "\\"])}` : text;
  }

  pipeline(deep: number): string {
    const { chance, pick } = this.#dice;
    const front = chance(this.#odd * 0.3) ? pick(["! ", "time ", "time -p ", "coproc ", "! ! ", "!"]) : "";
    const first = this.item(deep);
    if (first.endsWith("\n") || !chance(0.2)) return `${front}${first}`;
    return `${front}${first}${pick([" | ", "|", " |& ", " |\n"])}${this.item(deep)}`;
  }

  item(deep: number): string {
    const { chance, pick } = this.#dice;
    if (deep > 0 && chance(0.15)) return this.compound(deep - 1);
    if (chance(0.05)) return this.document(deep);
    if (chance(0.03))
      return pick(["[[ -f x ]]", "[[ x == y && -f x ]]", "[[ $x -eq 1 ]]", "(( x ))", "((1+1))", ":", "{ :; }"]);
    return this.command(deep);
  }

  compound(deep: number): string {
    const one = (): string => this.list(deep);
    const end = (text: string): string => (text.endsWith("\n") ? text : `${text}${this.#dice.pick(["; ", "\n"])}`);
    const made = this.#dice.pick([
      () => `(${one()})`,
      () => `( ${one()}\n)`,
      () => `{ ${end(one())}}`,
      () => `if ${end(one())}then ${end(one())}else ${end(one())}fi`,
      () => `if no; then ${end(one())}elif ${end(one())}then ${end(one())}fi`,
      () => `for x in ${this.word(deep)} ${this.word(deep)}; do ${end(one())}done`,
      () => `for x in x y\ndo ${end(one())}done`,
      () => `while ${end(one())}no; do ${end(one())}done`,
      () => `until ${end(one())}true; do ${end(one())}done`,
      () => `case ${this.word(deep)} in x) ${one()}\n;; (y|*) ${one()}\n;; esac`,
      () => `case x in ${this.word(deep)}) ${one()}\n;& *) ${one()}\n;;& esac`,
      () => `f() { ${end(one())}}; f`,
      () => `function f { ${end(one())}}; f x`,
    ])();
    return this.#dice.chance(0.2) ? `${made} ${this.redirect(deep)}` : made;
  }

  /** A command with a here-document, which ends with a line break. */
  document(deep: number): string {
    const { pick, between } = this.#dice;
    const [written, end] = pick([
      ["E", "E"],
      ["'E'", "E"],
      ['"E"', "E"],
      ["\\E", "E"],
      ["-E", "\tE"],
      ["- E", "E"],
      ["-'E'", "\t\tE"],
      ["E''", "E"],
      ["$E", "$E"],
      ["'E F'", "E F"],
      [" E", "E"],
    ] as const);
    const text = (): string =>
      pick([
        () => "x",
        () => `$(${this.list(0)})`,
        () => `\`${this.command(0)}\``,
        () => `\\$(${this.command(0)})`,
        () => "$x",
        () => "E ",
        () => " E",
        () => "E\\",
        () => "'",
        () => '"',
        () => "rm x",
        () => `\${x:-$(${this.command(0)})}`,
      ])();
    const body = Array.from({ length: between(0, 3) }, () => `${text()}\n`).join("");
    const rest = pick([
      () => "",
      () => ` | ${this.command(deep)}`,
      () => ` && ${this.command(deep)}`,
      () => " >/dev/null",
    ])();
    return `${this.command(deep)} <<${written}${rest}\n${body}${end}\n`;
  }

  command(deep: number): string {
    const { between, chance, pick } = this.#dice;
    const parts = Array.from({ length: between(0, 3) }, () => this.word(deep));
    if (chance(0.25)) parts.splice(between(0, parts.length), 0, this.redirect(deep));
    const before = chance(this.#odd * 0.5) ? [this.assignment(deep)] : [];
    if (chance(this.#odd * 0.1)) return [...before, ...(chance(0.5) ? [this.redirect(deep)] : []), ":"].join(" ");
    return [...before, this.program(deep), ...parts].join(pick([" ", " ", " ", "  ", "\t", " \\\n"]));
  }

  program(deep: number): string {
    const { chance, pick } = this.#dice;
    const name = pick(PROGRAMS);
    if (chance(0.12)) return `${this.starter(deep)}${chance(0.5) ? name : ""}`;
    if (!chance(0.1 + this.#odd)) return name;
    return pick([
      `\\${name}`,
      `'${name}'`,
      `"${name}"`,
      `$'${name}'`,
      `${name}\\\n`,
      `\\\n${name}`,
      `''${name}`,
      `$x${name}`,
      `{${name},x}`,
      "$x",
      "eval",
      "exec",
      "command",
      "builtin",
      ".",
      "trap 'rm x' EXIT;",
      "alias a=rm;",
      "set -- x;",
      "shopt -s extglob;",
    ]);
  }

  /** A program in front of another one; a shell has its whole line. */
  starter(deep: number): string {
    const { pick } = this.#dice;
    const quoted = (): string => `'${this.list(Math.min(deep, 1)).replaceAll("'", `'\\''`)}'`;
    return pick([
      () => "env ",
      () => "env X=1 ",
      () => "env -i PATH=x ",
      () => "env -u X ",
      () => "timeout 1 ",
      () => "timeout -k 1 1 ",
      () => "nice -n 1 ",
      () => "nice ",
      () => "nohup ",
      () => `xargs ${pick(PROGRAMS)} `,
      () => "xargs -n 1 a ",
      () => "command ",
      () => "command -p ",
      () => "command -v ",
      () => "exec ",
      () => `bash -c ${quoted()} `,
      () => `sh -c ${quoted()} `,
      () => `bash -ec ${quoted()} `,
      () => "env bash -c a ",
      () => "env -S 'a b' ",
    ])();
  }

  word(deep: number): string {
    const { chance, pick } = this.#dice;
    if (!chance(this.#odd)) return pick(PLAIN);
    if (deep === 0 || chance(0.6)) return pick(ODD);
    return pick([
      () => `$(${this.list(deep - 1)})`,
      () => `"$(${this.list(deep - 1)})"`,
      () => `\`${this.command(0)}\``,
      () => `"\`${this.command(0)}\`"`,
      () => `<(${this.list(deep - 1)})`,
      () => `>(${this.list(deep - 1)})`,
      () => `\${x:-$(${this.list(deep - 1)})}`,
      () => `"\${x:-\`${this.command(0)}\`}"`,
      () => `x$(${this.command(0)})y`,
      () => `"x $(${this.command(0)}) 'y'"`,
      () => `$(( $(${this.command(0)}) + 1 ))`,
      () => `$(<x1)`,
    ])();
  }

  redirect(deep: number): string {
    const { chance, pick } = this.#dice;
    if (!chance(this.#odd + 0.1)) return pick(PLAIN_REDIRECTS);
    return chance(0.8) || deep === 0 ? pick(REDIRECT) : `${pick([">", "<", "<<<", "2>"])} ${this.word(deep - 1)}`;
  }

  assignment(deep: number): string {
    const { chance, pick } = this.#dice;
    return deep > 0 && chance(0.3) ? `X=$(${this.list(deep - 1)})` : pick(ASSIGNMENT);
  }
}

/** A text is not TOML, or uses more of it than is read here. */
export class NotToml extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(`line ${line} ${message}`);
    this.name = "NotToml";
    this.line = line;
  }
}

/** A value of a TOML file; dates stay texts. */
export type TomlData = string | number | boolean | TomlData[] | TomlBlock;
export interface TomlBlock {
  [name: string]: TomlData;
}

const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const INLINE_BLANK = /[ \t]*/y;
const LINE_END = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
const NAME = /[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
const VALUE =
  /"""(?<multi>(?:[^\\]|\\[^])*?"{0,2})"""(?!")|'''(?<raw>[^]*?'{0,2})'''(?!')|(?<basic>"(?:[^"\\\n]|\\.)*")|'(?<literal>[^'\n]*)'|(?<word>[A-Za-z0-9+.:_-]+)/y;
const DATE = /^\d{4}-\d\d-\d\d|^\d\d:\d\d/;
const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\x1b",
  '"': '"',
  "\\": "\\",
};

/** Returns the values of a TOML text. A name that is set twice is refused. @throws {NotToml} */
export function readToml(text: string): TomlBlock {
  return new Reader(text.replace(/^\ufeff/, "")).document();
}

class Reader {
  readonly #text: string;
  #at = 0;
  /** Tables that stand under a heading of their own, and those that are whole as they are written. */
  readonly #closed = new Set<object>();

  constructor(text: string) {
    this.#text = text;
  }

  document(): TomlBlock {
    const root = block();
    let table = root;
    for (this.#take(BLANK); this.#at < this.#text.length; this.#take(BLANK)) {
      if (this.#text[this.#at] === "[") table = this.#heading(root);
      else this.#member(table);
      if (this.#take(LINE_END) === null) this.#fail("goes on behind a value");
    }
    return root;
  }

  #heading(root: TomlBlock): TomlBlock {
    const isList = this.#is("[[");
    this.#at += isList ? 2 : 1;
    const path = this.#path();
    if (!this.#is(isList ? "]]" : "]")) this.#fail("has a heading without its end");
    this.#at += isList ? 2 : 1;
    const last = path.pop() ?? "";
    const parent = this.#within(root, path);
    if (isList) {
      const list = parent[last] ?? (parent[last] = []);
      if (!Array.isArray(list) || this.#closed.has(list)) return this.#fail(`sets ${last} a second time`);
      const added = block();
      list.push(added);
      return added;
    }
    const table = this.#within(parent, [last]);
    if (this.#closed.has(table)) return this.#fail(`sets ${last} a second time`);
    this.#closed.add(table);
    return table;
  }

  /** Returns the table at a path; of a list of tables the last one. */
  #within(root: TomlBlock, path: readonly string[]): TomlBlock {
    return path.reduce((table, name) => {
      const next = table[name] ?? (table[name] = block());
      const found = Array.isArray(next) && !this.#closed.has(next) ? next.at(-1) : next;
      if (typeof found !== "object" || Array.isArray(found)) return this.#fail(`sets ${name} a second time`);
      return found;
    }, root);
  }

  #member(table: TomlBlock): void {
    const path = this.#path();
    if (!this.#is("=")) this.#fail("is no name with a value");
    this.#at += 1;
    const last = path.pop() ?? "";
    const parent = this.#within(table, path);
    if (Object.hasOwn(parent, last)) this.#fail(`sets ${last} a second time`);
    this.#take(INLINE_BLANK);
    parent[last] = this.#value();
  }

  #path(): string[] {
    const names: string[] = [];
    do {
      if (names.length > 0) this.#at += 1;
      this.#take(INLINE_BLANK);
      const name = this.#take(NAME)?.[0] ?? this.#fail("is no name with a value");
      names.push(name.startsWith('"') ? this.#escaped(name.slice(1, -1)) : name.replace(/^'(.*)'$/, "$1"));
      this.#take(INLINE_BLANK);
    } while (this.#is("."));
    return names;
  }

  #value(): TomlData {
    if (this.#is("[")) return this.#list();
    if (this.#is("{")) return this.#inline();
    const { multi, raw, basic, literal, word } = this.#take(VALUE)?.groups ?? this.#fail("has no value");
    if (multi !== undefined)
      return this.#escaped(multi.replace(/^\r?\n/, "").replaceAll(/(?<!\\)((?:\\\\)*)\\[ \t\r]*\n\s*/g, "$1"));
    if (raw !== undefined) return raw.replace(/^\r?\n/, "");
    if (basic !== undefined) return this.#escaped(basic.slice(1, -1));
    if (literal !== undefined) return literal;
    if (word === "true" || word === "false") return word === "true";
    const number = Number(word?.replaceAll("_", "").replace(/^[+](?=\d)/, ""));
    return Number.isFinite(number) ? number : DATE.test(word ?? "") ? (word ?? "") : this.#fail("has no value");
  }

  #list(): TomlData[] {
    const list: TomlData[] = [];
    this.#closed.add(list);
    this.#at += 1;
    for (this.#take(BLANK); !this.#is("]"); this.#take(BLANK)) {
      list.push(this.#value());
      this.#take(BLANK);
      if (this.#is(",")) this.#at += 1;
      else if (!this.#is("]")) this.#fail("has a list without its end");
    }
    this.#at += 1;
    return list;
  }

  #inline(): TomlBlock {
    const table = block();
    this.#at += 1;
    for (this.#take(BLANK); !this.#is("}"); this.#take(BLANK)) {
      this.#member(table);
      this.#take(BLANK);
      if (this.#is(",")) this.#at += 1;
      else if (!this.#is("}")) this.#fail("has a table without its end");
    }
    this.#at += 1;
    this.#closed.add(table);
    return table;
  }

  #escaped(text: string): string {
    return text.replaceAll(
      /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|([^]))/g,
      (_, ...[u, long, x, sign = ""]: (string | undefined)[]) => {
        const code = [u, long, x].find((one): one is string => typeof one === "string");
        if (code === undefined) return ESCAPES[sign] ?? this.#fail(`has the escape \\${sign}`);
        return parseInt(code, 16) <= 0x10ffff
          ? String.fromCodePoint(parseInt(code, 16))
          : this.#fail("has an escape of no character");
      },
    );
  }

  #is(sign: string): boolean {
    return this.#text.startsWith(sign, this.#at);
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #fail(message: string): never {
    throw new NotToml(message, this.#text.slice(0, this.#at).split("\n").length);
  }
}

/** Names such as `__proto__` are names. */
const block = (): TomlBlock => Object.create(null) as TomlBlock;

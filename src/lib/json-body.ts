import { visit } from "jsonc-parser";

export interface JsonLimits {
  maxDepth: number;
}

/** The body is not JSON that every parser reads alike. */
export class BadJson extends Error {}

const LONE_SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/**
 * Parses a request body, refusing whatever two parsers could read differently (security.md, section 4.1).
 *
 * `JSON.parse` keeps the last of two equal names and turns 1e400 into a value that prints as null; both are refused,
 * as are invalid UTF-8, unpaired surrogates and nesting beyond `maxDepth`.
 *
 * @throws {BadJson}
 */
export function parseJsonBody(bytes: Uint8Array, limits: JsonLimits): unknown {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new BadJson("not JSON");
  }
  scan(text, limits);
  return value;
}

function scan(text: string, { maxDepth }: JsonLimits): void {
  const names: Set<string>[] = [];
  let depth = 0;
  const enter = () => {
    depth += 1;
    if (depth > maxDepth) throw new BadJson("too deep");
  };
  const escaped = LONE_SURROGATE_ESCAPE.test(text);

  visit(
    text,
    {
      onObjectBegin() {
        enter();
        names.push(new Set());
      },
      onObjectEnd() {
        depth -= 1;
        names.pop();
      },
      onArrayBegin: enter,
      onArrayEnd() {
        depth -= 1;
      },
      onObjectProperty(name) {
        const seen = names.at(-1);
        if (seen?.has(name)) throw new BadJson("a name is given twice");
        seen?.add(name);
        if (escaped && !name.isWellFormed()) throw new BadJson("unpaired surrogate");
      },
      onLiteralValue(value: unknown) {
        if (typeof value === "number" && !Number.isFinite(value)) throw new BadJson("number out of range");
        if (escaped && typeof value === "string" && !value.isWellFormed()) throw new BadJson("unpaired surrogate");
      },
    },
    { disallowComments: true },
  );
}

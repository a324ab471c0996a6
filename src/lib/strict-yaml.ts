import { isAlias, isCollection, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";
import type { Document, Scalar } from "yaml";

export interface YamlLimits {
  maxBytes: number;
  maxAliases: number;
}

/** A YAML text that was read, and where in it things stand. */
export interface ReadYaml {
  value: unknown;
  /** Returns the line of what stands at keys and places in lists, or of the nearest thing around it; from 1. */
  lineOf(path: readonly (string | number)[]): number;
}

/** A text is not YAML, or more than plain YAML. */
export class BadYaml extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.name = "BadYaml";
    this.line = line;
  }
}

/** Texts as they stand, lists, mappings, numbers, truth values and null: what every reader of YAML 1.2 reads alike. */
const PLAIN_TAG = /^tag:yaml\.org,2002:(str|int|float|bool|null|seq|map)$/;

/**
 * Returns what a YAML text says: the core schema, with no tags of its own, few aliases, no name twice, and no
 * number, truth value or null that is written otherwise than it is read.
 *
 * @throws {BadYaml}
 */
export function readYaml(text: string, limits: YamlLimits): ReadYaml {
  const { document, lines } = parse(text, limits);
  const lineAt = (offset: number) => lines.linePos(offset).line;
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: limits.maxAliases * 100 });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new BadYaml(`an alias cannot be resolved: ${error.message}`, 1);
  }
  return {
    value,
    lineOf(path) {
      let offset = 0;
      for (let length = 0; length <= path.length; length += 1) {
        const node = document.getIn(path.slice(0, length), true);
        if (isNode(node) && node.range) offset = node.range[0];
      }
      return lineAt(offset);
    },
  };
}

function parse(text: string, { maxBytes, maxAliases }: YamlLimits): { document: Document; lines: LineCounter } {
  if (Buffer.byteLength(text) > maxBytes) throw new BadYaml(`the file has more than ${maxBytes / 1024} KiB`, 1);
  const lines = new LineCounter();
  const document = parseDocument(text, { schema: "core", version: "1.2", lineCounter: lines, prettyErrors: false });
  const [broken] = [...document.errors, ...document.warnings];
  if (broken) {
    const [words = ""] = broken.message.split("\n");
    throw new BadYaml(`this is not valid YAML: ${words.charAt(0).toLowerCase()}${words.slice(1)}`, lineOfError(broken));
  }
  if (document.directives.yaml.explicit || text.startsWith("%")) throw new BadYaml("it must have no directives", 1);

  let aliases = 0;
  visit(document, (_key, node) => {
    const line = isNode(node) ? lines.linePos(node.range?.[0] ?? 0).line : 1;
    if (isAlias(node) && (aliases += 1) > maxAliases) throw new BadYaml(`it has more than ${maxAliases} aliases`, line);
    const tag = isScalar(node) || isCollection(node) ? node.tag : undefined;
    if (tag !== undefined && !PLAIN_TAG.test(tag)) throw new BadYaml(`the tag ${tag} is not known`, line);
    if (isScalar(node) && isReadOtherwise(node)) {
      throw new BadYaml(`${node.source} is read as ${String(node.value)}; put it in quotes`, line);
    }
  });
  return { document, lines };

  function lineOfError(error: { pos: [number, number] }): number {
    return lines.linePos(error.pos[0]).line;
  }
}

/** Whether YAML makes something else of what is written, such as 31 of 0x1F, 7 of 007, 1 of 1.0 and null of ~. */
function isReadOtherwise({ source, value }: Scalar): boolean {
  return typeof value !== "string" && source !== undefined && source !== "" && source !== String(value);
}

/** Returns a YAML text in which a list has lost the item at a place, with the comments of that item. @throws {BadYaml} */
export function withoutItem(text: string, key: string, place: number, limits: YamlLimits): string {
  const { document } = parse(text, limits);
  document.deleteIn([key, place]);
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

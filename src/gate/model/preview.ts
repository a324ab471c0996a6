import { canonicalExact, isJsonObject, sha256Digest } from "../../lib/json/exact-json.ts";
import {
  LONGEST_EVIDENCE_TITLE,
  MOST_TABLE_COLUMNS,
  MOST_TABLE_ROWS,
  type Evidence,
} from "../../requests/model/plan.ts";

/** How a tool is previewed: by another tool of its server, or by the tool itself with these arguments as well. */
export type PreviewWay = { tool: string } | { arguments: Readonly<Record<string, unknown>> };

/** The things that a call would change, as its server says before it runs. */
export interface Preview {
  targets: readonly unknown[];
  /** The server's own word for the state of the targets. */
  digest?: string | undefined;
}

const LONGEST_CELL = 2000;

/** Returns the preview in a result of a tool; undefined where the result cannot be read as one, or is too long. */
export function readPreview(value: Readonly<Record<string, unknown>>): Preview | undefined {
  const { targets, digest } = value;
  const isDigest = digest === undefined || (typeof digest === "string" && /^[!-~]{1,200}$/.test(digest));
  if (!Array.isArray(targets) || targets.length > MOST_TABLE_ROWS || !isDigest) return undefined;
  if (!isShowable(targets)) return undefined;
  return { targets: targets as unknown[], ...(digest !== undefined && { digest: digest as string }) };
}

function isShowable(targets: readonly unknown[]): boolean {
  try {
    const { columns, rows } = tableOf(targets);
    const cells = [columns, ...rows].flat();
    return columns.length <= MOST_TABLE_COLUMNS && cells.every((cell) => cell.length <= LONGEST_CELL);
  } catch (error) {
    // A target can be nested too deep to be written.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Returns the digest by which two previews are the same. */
export function previewDigest({ targets, digest }: Preview): string {
  return sha256Digest(canonicalExact({ targets, ...(digest !== undefined && { digest }) }));
}

/** Returns a preview as people see and approve it. */
export function previewEvidence(fn: string, preview: Preview): Evidence[] {
  const title = `Targets of ${fn}`.slice(0, LONGEST_EVIDENCE_TITLE);
  const table = { kind: "table", title, ...tableOf(preview.targets) } as const;
  if (preview.digest === undefined) return [table];
  // In a table no mark of the digest makes a link or is lost.
  return [table, { kind: "table", title: "Digest of the targets", columns: ["digest"], rows: [[preview.digest]] }];
}

function tableOf(targets: readonly unknown[]): { columns: string[]; rows: string[][] } {
  const columns = [...new Set(targets.flatMap((target) => (isJsonObject(target) ? Object.keys(target) : [])))];
  if (columns.length === 0 || !targets.every(isJsonObject)) {
    return { columns: ["target"], rows: targets.map((target) => [cellOf(target)]) };
  }
  return {
    columns,
    rows: targets.map((target) => columns.map((name) => (Object.hasOwn(target, name) ? cellOf(target[name]) : ""))),
  };
}

function cellOf(value: unknown): string {
  return typeof value === "string" ? value : canonicalExact(value);
}

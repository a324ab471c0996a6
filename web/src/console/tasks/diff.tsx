import type { LineComment } from "@parley/sdk/tasks";
import { useMemo, useState } from "preact/hooks";
import { type ChangeData, Diff, getChangeKey, Hunk, type HunkData } from "react-diff-view";
import { direction } from "../../language.ts";
import { listed } from "../parts.tsx";
import { type PatchFile, readPatch } from "./patch.ts";
import { text } from "./text.ts";
import styles from "./diff.module.css";

/** Files are drawn at once until this many lines are; the others open on their own. */
const LINES_AT_ONCE = 600;
const MOST_LINES_OF_FILE = 6000;

/** Characters by which a line could show something else than it says. */
const STEERING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

export interface DiffProps {
  /** As git prints it. */
  patch: string;
  /** Where the whole patch can be fetched. */
  href: string;
  comments?: readonly LineComment[];
  /** Somebody wants to say something about a line, or about one yet to be named. */
  onComment?: ((path: string, line: number | undefined) => void) | undefined;
  onRemove?: ((comment: LineComment) => void) | undefined;
}

/** The changes of a patch, file by file. Everything in it is text. */
export function TaskDiff(props: DiffProps) {
  const files = useMemo(() => readPatch(props.patch).map(readable), [props.patch]);
  let lines = 0;
  if (files.length === 0) return <p class="muted">{text.diff.none}</p>;
  return (
    <div class={styles.files}>
      {props.onComment && <p class="small muted">{text.diff.tap}</p>}
      {files.map((file) => {
        const long = linesOf(file);
        lines += long;
        return <OneFile key={file.path} file={file} long={long} isOpen={lines <= LINES_AT_ONCE} {...props} />;
      })}
    </div>
  );
}

function OneFile(props: DiffProps & { file: PatchFile; long: number; isOpen: boolean }) {
  const { file, long, href, comments = [], onComment, onRemove } = props;
  const [isOpen, setOpen] = useState(props.isOpen);
  const { path } = file;
  const mine = comments.filter((one) => one.path === path);
  const events = onComment && {
    onClick: ({ change }: { change: ChangeData | null }) => change && onComment(path, lineOf(file, change)),
  };
  return (
    <details class={styles.file} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span class={styles.path} dir="ltr">
          {shown(file.from === undefined ? path : text.diff.renamed(file.from, path))}
        </span>
        <span class="small muted">
          {listed([text.diff.kinds[file.kind] ?? "", countsOf(file)].filter((part) => part !== ""))}
        </span>
      </summary>
      {isOpen && (
        <>
          {long > MOST_LINES_OF_FILE || !file.isRead ? (
            <p>
              {text.diff.tooLong} <a href={href}>{text.diff.raw}</a>
            </p>
          ) : (
            <div class={styles.lines} dir="ltr" tabIndex={0} role="region" aria-label={text.diff.region(shown(path))}>
              <Diff
                viewType="unified"
                diffType={file.kind}
                hunks={file.hunks}
                className={onComment ? (styles.pressable ?? "") : ""}
                widgets={widgetsOf(file, mine, onRemove)}
                {...(events && { codeEvents: events, gutterEvents: events })}
              >
                {(hunks) => hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
              </Diff>
              {file.hunks.length === 0 && (
                <p class="muted" dir={direction}>
                  {file.isBinary ? text.diff.binary : text.diff.modeOnly}
                </p>
              )}
            </div>
          )}
          {onComment && (
            <button type="button" class="quiet" onClick={() => onComment(path, undefined)}>
              {text.diff.comment}
              <span class="unseen">
                {" "}
                <bdi>{path}</bdi>
              </span>
            </button>
          )}
        </>
      )}
    </details>
  );
}

/** Comments stand under their lines; those on lines that are not shown stand under the last that is. */
function widgetsOf(file: PatchFile, comments: readonly LineComment[], onRemove: DiffProps["onRemove"]) {
  const changes = file.hunks.flatMap((hunk) => hunk.changes);
  const under = new Map<string, LineComment[]>();
  for (const comment of comments) {
    const at =
      changes.findLast((change) => change.type !== "delete" && newLineOf(change) <= comment.line) ?? changes[0];
    if (!at) continue;
    const key = getChangeKey(at);
    under.set(key, [...(under.get(key) ?? []), comment]);
  }
  return Object.fromEntries(
    [...under].map(([key, some]) => [key, <Comments key={key} comments={some} onRemove={onRemove} />]),
  );
}

function Comments({ comments, onRemove }: { comments: readonly LineComment[]; onRemove: DiffProps["onRemove"] }) {
  return (
    <ul class={styles.comments} dir={direction}>
      {comments.map((comment, at) => (
        <li key={at}>
          <p class="small muted">{text.diff.commentLabel(comment.line)}</p>
          <p class={styles.words} dir="auto">
            {comment.text}
          </p>
          {onRemove && (
            <button
              type="button"
              class="quiet"
              aria-label={text.diff.remove(comment.path, comment.line)}
              onClick={() => onRemove(comment)}
            >
              {text.diff.removeShort}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

const linesOf = (file: PatchFile): number => file.hunks.reduce((sum, { changes }) => sum + changes.length, 0);

function countsOf(file: PatchFile): string {
  const changes = file.hunks.flatMap((hunk) => hunk.changes);
  const of = (type: ChangeData["type"]): number => changes.filter((change) => change.type === type).length;
  return text.diff.counts(of("insert"), of("delete"));
}

/** The number of a line after the change; of a deleted one, where it stood. */
function lineOf({ hunks }: PatchFile, change: ChangeData): number {
  if (change.type !== "delete") return newLineOf(change);
  const hunk = hunks.find(({ changes }) => changes.includes(change));
  const before = hunk?.changes.slice(0, hunk.changes.indexOf(change)).findLast(({ type }) => type !== "delete");
  return before ? newLineOf(before) : Math.max(1, hunk?.newStart ?? 1);
}

function newLineOf(change: ChangeData): number {
  if (change.type === "insert") return change.lineNumber;
  return change.type === "normal" ? change.newLineNumber : 0;
}

/** Shows each character that cannot be seen by its number. */
function shown(words: string): string {
  const numberOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return words.replace(STEERING, (character) => `⟨U+${numberOf(character).padStart(4, "0")}⟩`);
}

function readable(file: PatchFile): PatchFile {
  const hunkOf = (hunk: HunkData): HunkData => ({
    ...hunk,
    changes: hunk.changes.map((change) => ({ ...change, content: shown(change.content) })),
  });
  return { ...file, hunks: file.hunks.map(hunkOf) };
}

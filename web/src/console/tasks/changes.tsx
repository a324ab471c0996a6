import { useQuery } from "../../query/query.ts";
import { useState } from "preact/hooks";
import { Choice } from "../../parts/choice.tsx";
import { Loading } from "../../parts/notice.tsx";
import { type Against, readDiff } from "./api.ts";
import { type DiffProps, TaskDiff } from "./diff.tsx";
import { text } from "./text.ts";
import taskStyles from "./tasks.module.css";

/** A patch longer than this is fetched by itself rather than drawn. */
const LONGEST_PATCH = 2_000_000;

/** The changes of a task, against what it started from or the base. */
export function TaskChanges(
  props: Omit<DiffProps, "patch" | "href"> & {
    /** Where the patch is; `against` and the attempt go into its query. */
    path: string;
    attempt: number;
    /** It builds on other tasks, so the two differ. */
    hasBoth: boolean;
  },
) {
  const { path, attempt, hasBoth, ...rest } = props;
  const [against, setAgainst] = useState<Against>("start");
  const href = `${path}?against=${against}&attempt=${attempt}`;
  const { data: patch, error } = useQuery({
    queryKey: ["console", "diff", href],
    queryFn: ({ signal }) => readDiff(href, signal),
    staleTime: Infinity,
  });
  return (
    <div class={taskStyles.changes}>
      {hasBoth && (
        <Choice
          legend={text.diff.against}
          hideLegend
          value={against}
          onChoose={setAgainst}
          options={(["start", "base"] as const).map((value) => ({ value, label: text.diff[value] }))}
        />
      )}
      {error && <p role="alert">{text.diff.failed}</p>}
      {!error && patch === undefined && <Loading rows={3} />}
      {patch !== undefined && patch.length > LONGEST_PATCH && (
        <p>
          {text.diff.tooLong} <a href={href}>{text.diff.raw}</a>
        </p>
      )}
      {patch !== undefined && patch.length <= LONGEST_PATCH && (
        <TaskDiff key={href} patch={patch} href={href} {...rest} />
      )}
    </div>
  );
}

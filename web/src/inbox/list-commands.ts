import { besideList } from "../filter.ts";
import { type Command, useKeys } from "../keys.ts";
import { useLocation } from "../router.tsx";
import { useChosen } from "./chosen.ts";
import { DUE, KINDS, sentenceOf, useShown } from "./list.tsx";
import { text } from "./text.ts";

/** The palette opens each line of the list, and chooses what the list shows. */
export function useListCommands(): void {
  const { tab, choose } = useChosen();
  const { entries } = useShown();
  const [, go] = useLocation();
  const show = (value: string, name: string): Command => ({ kind: "show", name, act: () => choose({ show: value }) });
  const commands = (): Command[] => [
    ...entries.flatMap(({ place, rows: [ask], count }): Command[] =>
      ask ? [{ kind: "open", name: sentenceOf(ask, count), act: () => go(besideList(`/inbox/${place}`)) }] : [],
    ),
    show("", text.all),
    ...(tab === "open" ? DUE.map((due) => show(`due:${due}`, text.due[due])) : []),
    ...KINDS.map((kind) => show(`kind:${kind}`, text.kinds[kind])),
  ];
  useKeys({}, { commands });
}

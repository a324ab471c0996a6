import { besideList } from "../filter.ts";
import { type Command, useKeys } from "../keys.ts";
import { useLocation } from "../router.tsx";
import { DUE, KINDS, useChosen } from "./chosen.ts";
import { type Entry, sentenceOf } from "./entries.ts";
import { useInbox } from "./queries.ts";
import { text } from "./text.ts";

/** Draws nothing: by it the palette opens each line of the list, and chooses what the list shows. */
export function ListCommands({ entries }: { entries: readonly Entry[] }): null {
  const { tab, choose } = useChosen();
  const [, go] = useLocation();
  const { counts } = useInbox("open");
  const show = (value: string, name: string): Command => ({ kind: "show", name, act: () => choose({ show: value }) });
  const commands = (): Command[] => [
    ...entries.flatMap(({ place, rows: [ask], count }): Command[] =>
      ask ? [{ kind: "open", name: sentenceOf(ask, count), act: () => go(besideList(`/inbox/${place}`)) }] : [],
    ),
    show("", text.all),
    ...(tab === "open" ? DUE.map((due) => show(`due:${due}`, text.due[due])) : []),
    ...KINDS.map((kind) => show(`kind:${kind}`, text.kinds[kind])),
    ...(tab === "open" && counts?.snoozed ? [show("snoozed", text.snoozedOnly)] : []),
    ...(tab === "open" ? (counts?.agents ?? []).map(({ agent }) => show(`agent:${agent}`, agent)) : []),
  ];
  useKeys({}, { commands });
  return null;
}

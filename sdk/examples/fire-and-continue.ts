import { Parley } from "@parley/sdk";

/** Asks, goes on with other work, and looks later: the answer if there is one by then, else nothing. */
export async function chooseApproach(parley: Parley, doOtherWork: () => Promise<void>): Promise<string | undefined> {
  const options = ["Incremental changes", "Complete rewrite"];
  const { question_id } = await parley.ask({
    prompt: "Should I refactor step by step, or rewrite the module?",
    options,
    min_responses: 3,
  });

  await doOtherWork();

  const { summary = {}, current_responses } = await parley.check(question_id);
  if (current_responses === 0) return undefined;
  return options.reduce((best, option) => ((summary[option] ?? 0) > (summary[best] ?? 0) ? option : best));
}

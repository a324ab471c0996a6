import { setTimeout as pause } from "node:timers/promises";

interface Open {
  question_id: string;
  prompt: string;
  responses_needed: number;
}

/** Until it is disposed of, as many people as are needed choose the first option of every question with this prompt. */
export function answerAll(url: string, prompt: string): Disposable {
  const over = new AbortController();
  const answer = async () => {
    while (!over.signal.aborted) {
      const { questions } = (await (await fetch(`${url}/human/questions`)).json()) as { questions: Open[] };
      for (const { question_id: id, responses_needed: needed } of questions.filter((one) => one.prompt === prompt)) {
        for (let i = 0; i < needed; i += 1) {
          await fetch(`${url}/human/responses`, {
            method: "POST",
            headers: { "content-type": "application/json", "x-fingerprint": `${id}-${i}` },
            body: JSON.stringify({ question_id: id, selected_option: 0 }),
          });
        }
      }
      await pause(50);
    }
  };
  const answering = answer();
  answering.catch(() => {});
  return { [Symbol.dispose]: () => over.abort() };
}

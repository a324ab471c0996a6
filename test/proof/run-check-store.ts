import type { Card } from "./run-plan.ts";
import { tokenIn } from "./run-plan.ts";
import type { Ledger, Submission } from "./run-ledger.ts";
import type { RunSite } from "./run-site.ts";

type Row = Record<string, unknown>;
type Problem = (says: string) => void;

/** Checks that the store holds the tasks that clients were promised, and no others. */
export async function checkStore(site: RunSite, cards: readonly Card[], ledger: Ledger, problem: Problem) {
  const query = (text: string) => site.site.query(text);
  const tasks = await query("SELECT repo, id, prompt, state, generation, attempt FROM tasks");
  for (const card of cards) {
    const task = tasks.find(({ id }) => id === card.id);
    if (task) checkSubmissions(card, task, ledger, problem);
    else problem(`D1: ${card.id} was given, and is not there`);
  }
  await checkReviews(query, ledger, problem);
  await checkDecisions(query, ledger, problem);
  await checkHolders(query, problem);
  await checkPermissions(site, problem);
}

/**
 * Checks that the task counts every acknowledged submission, and that its prompt is from one that may have been the
 * last.
 */
function checkSubmissions({ id }: Card, task: Row, ledger: Ledger, problem: Problem): void {
  const own = ledger.submissions.filter((one) => one.id === id && one.known !== "refused");
  const sure = own.filter(({ known }) => known === "acknowledged");
  const generation = Number(task["generation"]);
  if (generation < sure.length || generation > own.length) {
    const told = `${sure.length} submissions of ${id} were acknowledged, of ${own.length - sure.length} nobody knows`;
    problem(`${generation < sure.length ? "D1" : "I6"}: ${told}, and it is at number ${generation}`);
  }
  const token = tokenIn(String(task["prompt"]));
  const last = own.find((one) => one.token === token);
  if (!last) return problem(`D1: the prompt of ${id} is ${String(task["prompt"])}, which nobody gave`);
  const later = sure.find((one: Submission) => one.from > last.to);
  if (later) problem(`D1: ${id} stands as ${token}, though ${later.token} was given and acknowledged later`);
  const cancelled = ledger.cancellings.find(
    (one) => one.id === id && one.known === "acknowledged" && own.every(({ to }) => to < one.from),
  );
  if (cancelled && /queued|preparing|running/.test(String(task["state"]))) {
    problem(`J9: ${id} was taken back after everything else, and is ${String(task["state"])}`);
  }
}

/** Checks that each attempt's work was reviewed once, as its reviewer was notified. */
async function checkReviews(query: RunSite["site"]["query"], { reviews }: Ledger, problem: Problem): Promise<void> {
  const rows = await query("SELECT repo, id, attempt, verdict, comment FROM task_reviews");
  const keys = new Set(reviews.map(({ id, attempt }) => `${id} ${attempt}`));
  for (const key of keys) {
    const said = reviews.filter((one) => `${one.id} ${one.attempt}` === key && one.known === "acknowledged");
    const row = rows.find((one) => `${String(one["id"])} ${String(one["attempt"])}` === key);
    // The same review once more in the inbox gets the reply that it stands.
    const once = said.filter(({ ask }) => ask === null);
    if (once.length > 1 || new Set(said.map(({ verdict }) => verdict)).size > 1) {
      problem(`A1: attempt ${key} was reviewed ${said.length} times: ${said.map(({ verdict }) => verdict).join(", ")}`);
    }
    for (const { verdict } of said) {
      if (row?.["verdict"] === verdict) continue;
      problem(`D1: attempt ${key} was reviewed with ${verdict}, and what stands is ${JSON.stringify(row ?? null)}`);
    }
  }
}

/** Checks that each acknowledged decision stands, and that no contrary decision was acknowledged. */
async function checkDecisions(query: RunSite["site"]["query"], ledger: Ledger, problem: Problem): Promise<void> {
  const rows = new Map(
    (await query("SELECT ask_id, title, state, outcome FROM requests")).map((row) => [row["ask_id"], row]),
  );
  const asks = new Set(ledger.decisions.map(({ ask }) => ask));
  for (const ask of asks) {
    const said = ledger.decisions.filter((one) => one.ask === ask && one.known === "acknowledged");
    const row = rows.get(ask);
    const outcome = JSON.parse(String(row?.["outcome"] ?? "null")) as Row | null;
    for (const { said: decision } of said) {
      const stands = Object.entries(decision).every(([name, value]) => outcome?.[name] === value);
      if (!stands)
        problem(
          `A1: "${String(row?.["title"])}" was decided ${JSON.stringify(decision)}, and stands as ${JSON.stringify(outcome)}`,
        );
    }
  }
}

/** No attempt ever went from one holder to another, and every number of a job was one holder's. */
async function checkHolders(query: RunSite["site"]["query"], problem: Problem): Promise<void> {
  const rows = await query(`SELECT a.attempt_id, a.repo, a.id, a.n, a.holder, c.epoch, c.holder AS claimed
    FROM task_attempts a JOIN job_claims c ON c.job_id = a.job_id`);
  const numbers = new Map<string, string>();
  for (const { attempt_id, repo, id, n, holder, epoch, claimed } of rows) {
    if (repo === "shop" && holder !== claimed) {
      problem(`J1: attempt ${String(n)} of ${String(id)} is held by ${String(holder)}, and was by ${String(claimed)}`);
    }
    const key = `${String(attempt_id)} ${String(epoch)}`;
    if (numbers.has(key)) problem(`J1: number ${String(epoch)} of ${String(attempt_id)} was given twice`);
    numbers.set(key, String(claimed));
  }
}

/**
 * Checks that each attempt ran in the folder of one server, that no two attempts at a task met, and that nothing ran
 * without permission.
 */
async function checkPermissions(site: RunSite, problem: Problem): Promise<void> {
  const homes = new Map<string, string>();
  const rows = await site.site.query(`SELECT a.attempt_id, w.answer_json FROM task_attempts a
    JOIN answers w ON w.job_id = a.job_id WHERE w.status = 'ANSWERED'`);
  const allowed = new Set(
    rows.filter(({ answer_json }) => /"approved":true/.test(String(answer_json))).map((row) => row["attempt_id"]),
  );
  for (const [what, task = "", attempt = "", more = ""] of site.notes()) {
    // Remote workers are left out. The agent of a lost one may still be at work.
    if (what === "met" && task.startsWith("shop-")) problem(`J9: attempt ${attempt} of ${task} met ${more} at work`);
    if (what === "begun") {
      const before = homes.get(attempt) ?? more;
      if (before !== more) problem(`J1: attempt ${attempt} of ${task} was run in ${before} and in ${more}`);
      homes.set(attempt, more);
    }
    if (what === "allowed" && !allowed.has(attempt)) problem(`P2: ${task} did as ${attempt} what nobody allowed`);
  }
}

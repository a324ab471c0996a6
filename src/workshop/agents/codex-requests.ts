import type { JsonObject } from "../../lib/json/json-body.ts";
import { pathFromTree, isInTree, writing } from "../../tasks/model/action.ts";
import { MOST_QUESTIONS, TOO_MANY_QUESTIONS } from "./agent.ts";
import type { PermissionRequest, AgentQuestion, AgentCallbacks, QuestionAnswer } from "./agent.ts";
import { answerElicitation } from "./elicitation.ts";
import { objectOf, objectsOf, shown, textOf } from "./json-lines.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "./rpc.ts";

/** Shells by which Codex runs what its model wrote as a line. */
const BY_SHELL = /^(?:\/usr)?\/bin\/(?:ba|z|da)?sh -l?c ([^]+)$/;

/** An answer is stored, and shown to whoever may see the task. */
const NO_SECRETS: QuestionAnswer = {
  none: true,
  why: "secrets are not asked for through Parley; name the variable or the file where a person is to put it",
};

/** Changes under way at one time; those of before are forgotten, and so not allowed. */
const MOST_CHANGES = 1000;

/** Answers the requests that Codex sends to its client (spec/assignment 7). */
export class CodexRequests {
  readonly #callbacks: AgentCallbacks;
  readonly #tree: string;
  readonly #explain: (why: string) => void;
  /** Changes of files that are being made, by the item they belong to: a request names the item alone. */
  readonly #changes = new Map<string, JsonObject[]>();
  /** The items for which a permission was asked, and which have not ended. */
  readonly #asked = new Set<string>();

  /** `explain` sends the model the reason of a denial: the answer itself has no field for it. */
  constructor(callbacks: AgentCallbacks, tree: string, explain: (why: string) => void) {
    this.#callbacks = callbacks;
    this.#tree = tree;
    this.#explain = explain;
  }

  /** Knows from now on what an item would change. */
  note(id: string, changes: JsonObject[]): void {
    if (this.#changes.size >= MOST_CHANGES) this.#changes.clear();
    this.#changes.set(id, changes);
  }

  /** Returns whether a permission was asked for an item that has not ended. */
  wasAsked(id: string): boolean {
    return this.#asked.has(id);
  }

  /** An item has ended. */
  forget(id: string): void {
    this.#changes.delete(id);
    this.#asked.delete(id);
  }

  /** Returns the answer to a request of Codex. @throws {RpcError} for a request that Parley does not answer */
  async answer(method: string, params: JsonObject, withdrawn: AbortSignal): Promise<JsonObject> {
    switch (method) {
      case "item/commandExecution/requestApproval":
        return this.#decision([commandPermission(params, this.#tree)], withdrawn, textOf(params["itemId"]));
      case "item/fileChange/requestApproval":
        return this.#decision(this.#filePermissions(params), withdrawn, textOf(params["itemId"]));
      case "item/permissions/requestApproval":
        return this.#permissions(params, withdrawn);
      case "item/tool/requestUserInput":
        return this.#userInput(params, withdrawn);
      case "mcpServer/elicitation/request":
        return this.#elicitation(params, withdrawn);
      default:
        throw new RpcError(METHOD_NOT_FOUND, "Parley does not know this request.");
    }
  }

  /** Accepts a request of several parts only if each part is allowed. */
  async #decision(
    permissions: readonly PermissionRequest[],
    withdrawn: AbortSignal,
    use: string | undefined,
  ): Promise<JsonObject> {
    if (this.#asked.size >= MOST_CHANGES) this.#asked.clear();
    if (use !== undefined) this.#asked.add(use);
    for (const permission of permissions) {
      const decision = await this.#callbacks.permission(permission, withdrawn, use);
      if (decision.allow) continue;
      if (!decision.canceled) this.#explain(decision.why);
      return { decision: decision.canceled ? "cancel" : "decline" };
    }
    return { decision: permissions.length > 0 ? "accept" : "decline" };
  }

  #filePermissions(params: JsonObject): PermissionRequest[] {
    const changes = this.#changes.get(textOf(params["itemId"]) ?? "") ?? [];
    const root = textOf(params["grantRoot"]);
    // A root would be open for the rest of the session, which nobody can look at.
    if (root !== undefined) return [];
    return changes.flatMap((change) => {
      const paths = [textOf(change["path"]), textOf(objectOf(change["kind"])["move_path"])];
      const diff = textOf(change["diff"]);
      return paths.flatMap((path): PermissionRequest[] =>
        path === undefined
          ? []
          : [{ tool: "fileChange", input: change, ...writing(path, this.#tree), ...(diff !== undefined && { diff }) }],
      );
    });
  }

  async #permissions(params: JsonObject, withdrawn: AbortSignal): Promise<JsonObject> {
    const permissions = objectOf(params["permissions"]);
    const input = { permissions, ...reasonOf(params) };
    const permission: PermissionRequest = {
      tool: "request_permissions",
      input,
      action: "tool",
      resource: "request_permissions",
    };
    const { allow } = await this.#callbacks.permission(permission, withdrawn);
    const asked = Object.entries(permissions).filter(([, value]) => value !== null);
    return { permissions: allow ? Object.fromEntries(asked) : {}, scope: "turn" };
  }

  async #userInput(params: JsonObject, withdrawn: AbortSignal): Promise<JsonObject> {
    const questions = objectsOf(params["questions"]);
    if (questions.length > MOST_QUESTIONS) throw new RpcError(INVALID_PARAMS, TOO_MANY_QUESTIONS);
    const given = await Promise.all(
      questions.map((question) =>
        question["isSecret"] === true ? NO_SECRETS : this.#callbacks.question(codexQuestion(question), withdrawn),
      ),
    );
    const answers = questions.flatMap((question, i) => {
      const one = given[i];
      const id = textOf(question["id"]);
      if (!one || id === undefined) return [];
      return [[id, { answers: ["none" in one ? `(no answer: ${one.why})` : one.text] }]];
    });
    return { answers: Object.fromEntries(answers) as JsonObject };
  }

  async #elicitation(params: JsonObject, withdrawn: AbortSignal): Promise<JsonObject> {
    const server = textOf(params["serverName"]) ?? "";
    const elicitation = { tool: `mcp:${server}`, source: { serverName: server }, params };
    return { ...(await answerElicitation(this.#callbacks, elicitation, withdrawn)), _meta: null };
  }
}

/** Returns the request for a command. It leaves out the ids of this run, so that it is the same after a resume. */
export function commandPermission(params: JsonObject, tree: string): PermissionRequest {
  const [command, cwd] = [textOf(params["command"]) ?? "", textOf(params["cwd"])];
  const network = objectOf(params["networkApprovalContext"]);
  const host = textOf(network["host"]);
  const kind = textOf(params["kind"]);
  const input = {
    command,
    ...(cwd !== undefined && { cwd }),
    ...(kind !== undefined && kind !== "command" && { kind }),
    ...(host !== undefined && { networkApprovalContext: network }),
    ...reasonOf(params),
  };
  if (host !== undefined) return { tool: "network", input, action: "network", resource: host.toLowerCase() };
  const line = unwrapped(command);
  const isElsewhere = cwd !== undefined && !isInTree(pathFromTree(cwd, tree));
  const resource = isElsewhere ? `cd ${cwd} && ${line}` : line;
  return { tool: "commandExecution", input, action: "execute", resource };
}

/** Returns the line that a shell is given, where the shell was Codex's idea; any other command as it stands. */
function unwrapped(command: string): string {
  const quoted = BY_SHELL.exec(command)?.[1];
  if (quoted === undefined) return command;
  if (/^[\w./:=@%+,-]+$/.test(quoted)) return quoted;
  const single = /^'([^']*)'$/.exec(quoted)?.[1];
  if (single !== undefined) return single;
  // Within double quotes nothing may stand that a shell would read again.
  return /^"([^"\\$`!]*)"$/.exec(quoted)?.[1] ?? command;
}

function codexQuestion(question: JsonObject): AgentQuestion {
  const options = objectsOf(question["options"]).flatMap(({ label, description }) => {
    const text = textOf(description);
    return typeof label === "string" ? [{ label, ...(text !== undefined && { description: text }) }] : [];
  });
  return { text: shown(textOf(question["question"]) ?? ""), options };
}

function reasonOf(params: JsonObject): JsonObject {
  const reason = textOf(params["reason"]);
  return reason === undefined ? {} : { reason };
}

import { openForeignSchemas, type ForeignSchemas } from "../../lib/json/foreign-schema.ts";
import { printable } from "../../lib/printable.ts";
import { tryRole } from "../../responders/answer-runner/golden.ts";
import { openRoles, type RoleOnDisk, type Roles } from "../../responders/roles/role-catalogue.ts";
import { roleName } from "../../responders/roles/role.ts";
import { executorPrompt, roleDirs } from "../../responders/roles/shipped-prompts.ts";
import { configOf } from "../command-config.ts";
import { command, EXIT, type Io, JSON_FLAG, STORE_FLAGS, type StorePlace } from "../command.ts";
import { print, table } from "../print.ts";

const SILENT = { info: () => {}, warn: () => {} };

export const rolesList = command({
  takes: { ...JSON_FLAG, ...STORE_FLAGS },
  example: "parley roles list",
  run({ json, ...place }, io) {
    return withRoles(place, io, (roles) => {
      const found = roles.list();
      const rows = found.map(({ role, file }) => {
        return [roleName(role), toolsOf(role), printable(role.purpose), printable(file)];
      });
      print(json, found.map(toWire), table(["ROLE", "TOOLS", "PURPOSE", "FILE"], rows), io);
      tellProblems(roles, io);
      return EXIT.done;
    });
  },
});

export const rolesShow = command({
  takes: { ID: "", ...JSON_FLAG, ...STORE_FLAGS },
  example: "parley roles show role.clarifier@v1",
  run({ id, json, ...place }, io) {
    return withRoles(place, io, (roles) => {
      const found = named(roles, id);
      return print(json, toWire(found), linesOf(found), io);
    });
  },
});

export const rolesTest = command({
  takes: {
    "[ID]": "",
    "--update": "record what there is now, where a role has recorded cases",
    ...JSON_FLAG,
    ...STORE_FLAGS,
  },
  example: "parley roles test role.clarifier",
  run({ id, update, json, ...place }, io) {
    return withRoles(place, io, async (roles, schemas) => {
      const results = [];
      for (const one of id === undefined ? roles.list() : [named(roles, id)]) {
        const tried = await tryRole(one, schemas, { isRenewed: update });
        results.push(...tried.map((each) => ({ role: roleName(one.role), ...each })));
      }
      const failed = results.filter(({ problem }) => problem !== null);
      if (json) print(json, { holds: failed.length === 0, tried: results }, [], io);
      else {
        for (const { role, name, problem } of results) {
          io.out(`${problem === null ? "holds" : "FAILS"}  ${role}: ${printable(name)}`);
          if (problem !== null) io.out(`       ${printable(problem)}`);
        }
        if (update) io.tell("The recorded cases are now what there is; read what changed before you keep it.");
        io.out(failed.length === 0 ? "Everything holds." : `${failed.length} of ${results.length} do not hold.`);
      }
      return failed.length === 0 ? EXIT.done : EXIT.refused;
    });
  },
});

export const rolesCheck = command({
  takes: { ...JSON_FLAG, ...STORE_FLAGS },
  example: "parley roles check",
  run({ json, ...place }, io) {
    return withRoles(place, io, (roles) => {
      const broken = roles.problems().map(({ file, problems }) => ({ file, problems }));
      const lines = broken.flatMap(({ file, problems }) =>
        problems.map((one) => `${printable(file)}: ${printable(one)}`),
      );
      print(json, broken, broken.length === 0 ? [`All ${roles.list().length} roles can be used.`] : lines, io);
      return broken.length === 0 ? EXIT.done : EXIT.refused;
    });
  },
});

export const promptExecutor = command({
  takes: {},
  example: "parley prompt executor >> AGENTS.md",
  run(_, io) {
    io.out(executorPrompt());
    return Promise.resolve(EXIT.done);
  },
});

async function withRoles(
  place: StorePlace,
  io: Io,
  use: (roles: Roles, schemas: ForeignSchemas) => number | Promise<number>,
): Promise<number> {
  const config = configOf(place, io);
  const schemas = openForeignSchemas();
  try {
    const dirs = roleDirs({ promptsDir: config.relay.promptsDir, dataDir: config.dataDir });
    return await use(await openRoles({ dirs, log: SILENT, schemas }), schemas);
  } finally {
    await schemas.close();
  }
}

function named(roles: Roles, id: string): RoleOnDisk {
  const role = roles.find(id);
  const found = roles.list().find((one) => one.role === role);
  if (!found) throw new Error(`there is no role ${id}; parley roles list shows those there are.`);
  return found;
}

function tellProblems(roles: Roles, io: Io): void {
  const files = roles.problems().length;
  if (files > 0) io.tell(`${files} of the files cannot be used; parley roles check says why.`);
}

function toWire({ role, file }: RoleOnDisk): object {
  return {
    id: role.id,
    version: role.version,
    purpose: role.purpose,
    system: role.system,
    ...(role.inputSchema && { input_schema: role.inputSchema }),
    ...(role.outputSchema && { output_schema: role.outputSchema }),
    ...(role.toolWhitelist && { tool_whitelist: role.toolWhitelist }),
    limits: {
      ...(role.limits.maxTokens !== null && { max_tokens: role.limits.maxTokens }),
      max_tool_calls: role.limits.maxToolCalls,
      ...(role.limits.timeoutS !== null && { timeout_s: role.limits.timeoutS }),
    },
    guardrails: [...role.guardrails],
    examples: role.examples,
    hash: role.hash,
    file,
  };
}

function linesOf({ role, file }: RoleOnDisk): string[] {
  const { maxTokens, maxToolCalls, timeoutS } = role.limits;
  const limits = [
    ...(maxTokens === null ? [] : [`${maxTokens} tokens`]),
    `${maxToolCalls} tool calls`,
    ...(timeoutS === null ? [] : [`${timeoutS} s`]),
  ];
  const facts: [string, string][] = [
    ["role", roleName(role)],
    ["purpose", role.purpose],
    ["tools", toolsOf(role)],
    ["limits", limits.join(", ")],
    ["guardrails", [...role.guardrails].join(", ") || "none"],
    ["input", role.inputSchema ? JSON.stringify(role.inputSchema) : "anything"],
    ["output", role.outputSchema ? JSON.stringify(role.outputSchema) : "anything"],
    ["hash", role.hash],
    ["file", file],
  ];
  return [
    ...facts.map(([name, value]) => `${name.padEnd(12)}${printable(value)}`),
    "",
    ...role.system.split("\n").map(printable),
  ];
}

function toolsOf({ toolWhitelist: tools }: RoleOnDisk["role"]): string {
  if (tools === null) return "any";
  return tools.length === 0 ? "none" : tools.map(printable).join(", ");
}

import { parseArgs } from "node:util";
import { loadConfig } from "../../config/config.ts";
import { openForeignSchemas, type ForeignSchemas } from "../../lib/json/foreign-schema.ts";
import { printable, printableJson } from "../../lib/printable.ts";
import { tryRole } from "../../responders/answer-runner/golden.ts";
import { openRoles, type RoleOnDisk, type Roles } from "../../responders/roles/role-catalogue.ts";
import { roleName } from "../../responders/roles/role.ts";
import { executorPrompt, roleDirs } from "../../responders/roles/shipped-prompts.ts";
import { STORE_OPTIONS } from "../command-store.ts";
import { type Command, EXIT, type Io, onlyArgument, STORE_FLAGS } from "../command.ts";
import { table } from "../table.ts";

const SILENT = { info: () => {}, warn: () => {} };
const OPTIONS = { ...STORE_OPTIONS, json: { type: "boolean" } } as const;

export const rolesList: Command = {
  usage: "[--json]",
  flags: { "--json": "print JSON", ...STORE_FLAGS },
  example: "parley roles list",
  async run(argv, io) {
    const { values } = parseArgs({ args: [...argv], options: OPTIONS });
    return withRoles(values, io, (roles) => {
      if (values.json) io.out(printableJson(JSON.stringify(roles.list().map(toWire))));
      else {
        const rows = roles
          .list()
          .map(({ role, file }) => [roleName(role), toolsOf(role), printable(role.purpose), printable(file)]);
        for (const line of table(["ROLE", "TOOLS", "PURPOSE", "FILE"], rows)) io.out(line);
      }
      tellProblems(roles, io);
      return EXIT.done;
    });
  },
};

export const rolesShow: Command = {
  usage: "ID [--json]",
  flags: { "--json": "print JSON", ...STORE_FLAGS },
  example: "parley roles show role.clarifier@v1",
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: OPTIONS });
    const id = onlyArgument(positionals, "ID");
    return withRoles(values, io, (roles) => {
      const found = named(roles, id);
      if (values.json) io.out(printableJson(JSON.stringify(toWire(found))));
      else for (const line of linesOf(found)) io.out(line);
      return EXIT.done;
    });
  },
};

export const rolesTest: Command = {
  usage: "[ID] [--update] [--json]",
  flags: {
    "--update": "record what there is now, where a role has recorded cases",
    "--json": "print JSON",
    ...STORE_FLAGS,
  },
  example: "parley roles test role.clarifier",
  async run(argv, io) {
    const options = { ...OPTIONS, update: { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options });
    const id = positionals.length === 0 ? null : onlyArgument(positionals, "ID");
    return withRoles(values, io, async (roles, schemas) => {
      const results = [];
      for (const one of id === null ? roles.list() : [named(roles, id)]) {
        const tried = await tryRole(one, schemas, { isRenewed: values.update === true });
        results.push(...tried.map((each) => ({ role: roleName(one.role), ...each })));
      }
      const failed = results.filter(({ problem }) => problem !== null);
      if (values.json) io.out(printableJson(JSON.stringify({ holds: failed.length === 0, tried: results })));
      else {
        for (const { role, name, problem } of results) {
          io.out(`${problem === null ? "holds" : "FAILS"}  ${role}: ${printable(name)}`);
          if (problem !== null) io.out(`       ${printable(problem)}`);
        }
        if (values.update) io.tell("The recorded cases are now what there is; read what changed before you keep it.");
        io.out(failed.length === 0 ? "Everything holds." : `${failed.length} of ${results.length} do not hold.`);
      }
      return failed.length === 0 ? EXIT.done : EXIT.refused;
    });
  },
};

export const rolesCheck: Command = {
  usage: "[--json]",
  flags: { "--json": "print JSON", ...STORE_FLAGS },
  example: "parley roles check",
  async run(argv, io) {
    const { values } = parseArgs({ args: [...argv], options: OPTIONS });
    return withRoles(values, io, (roles) => {
      const broken = roles.problems();
      if (values.json) io.out(printableJson(JSON.stringify(broken.map(({ file, problems }) => ({ file, problems })))));
      else if (broken.length === 0) io.out(`All ${roles.list().length} roles can be used.`);
      else {
        for (const { file, problems } of broken) {
          for (const problem of problems) io.out(`${printable(file)}: ${printable(problem)}`);
        }
      }
      return broken.length === 0 ? EXIT.done : EXIT.refused;
    });
  },
};

export const promptExecutor: Command = {
  usage: "",
  flags: {},
  example: "parley prompt executor >> AGENTS.md",
  run(argv, io) {
    parseArgs({ args: [...argv], options: {} });
    io.out(executorPrompt());
    return Promise.resolve(EXIT.done);
  },
};

async function withRoles(
  flags: { "data-dir"?: string | undefined; config?: string | undefined },
  io: Io,
  use: (roles: Roles, schemas: ForeignSchemas) => number | Promise<number>,
): Promise<number> {
  const config = loadConfig({ flags: { "data-dir": flags["data-dir"] }, env: io.env, file: flags.config });
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

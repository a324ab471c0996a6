/**
 * The imports that each part may have. An import that no line of IMPORTS allows is refused.
 *
 *     lib <- model <- store <- verbs <- protocols, loops
 *
 * Each module of a subject has these layers: `questions/answer.ts` is a verb; `questions/model/`, `questions/store/`
 * and
 * `questions/loops/` are as their names say. A protocol calls verbs and never touches a store. Members of protocols/,
 * channels/ and responders/ do not import one another: `own` below is the member's own folder.
 */
/** The rooms of subjects, in the order in which they build on one another: an import goes to an earlier one. */
export const SUBJECTS = [
  "core",
  "access",
  "policy",
  "requests",
  "questions",
  "notices",
  "conversations",
  "asks",
  "gate",
  "activity",
  "tasks",
  "stuck",
  "agents",
  "doctor",
  "backup",
  "key-rotation",
  "personal-data",
];
const subject = `(${SUBJECTS.join("|")})`;
const lib = "^src/lib/";
/** The facts of each kind of channel: contract, list, and the record in its folder. Pure rules as well. */
const channelKinds = "src/channels/(?:kinds?|[^/]+/kind)\\.ts$";
/** `facts/` reads the arguments of a call, `risk/` judges them: pure rules as well. */
const model = `^(?:src/${subject}/(?:model|facts|risk)/|${channelKinds})`;
const store = `^src/${subject}/store/`;
const verbs = `^src/${subject}/(?!(model|facts|risk|store|loops)/)`;
const loops = `^src/${subject}/loops/`;
const cli = "^src/cli/";
/** The code of `parley work`, which runs the workshop on another machine. */
const worker = "^src/worker/";
const workshop = "^src/workshop/";
/** The gateway between an MCP client and a server of tools. */
const gateway = "^src/gateway/";
/** The agents whose permission prompts people answer: a contract, a registry, and a folder for each. */
const connect = "^src/connect/(?!agents/)";
const connectRegistry = "^src/connect/registry\\.ts$";
const connectAgent = "^src/connect/agents/([^/]+)/";
/** The interface of the workshop to the rest of the server. The loops know no other part of the workshop. */
const workshopContract = "^src/workshop/(attempt-client|attempt-assignment)\\.ts$";
const protocol = "^src/protocols/(?!http/)([^/]+)/";
/** The code that all protocols share. */
const doors = "^src/protocols/http/";
const channel = `^(?!${channelKinds})src/channels/([^/]+)`;
const responder = "^src/responders/([^/]+)";
const channelContract = "^src/channels/channel\\.ts$";
const responderContract = "^src/responders/responder\\.ts$";
const answerRunner = "^src/responders/answer-runner/";
/** The roles that a model may be given: the runner answers in them, the command line shows and tests them. */
const roles = "^src/responders/roles/";
const context = "^src/context\\.ts$";
const refusals = "^src/refusals\\.ts$";
/** The contract of the modules that ask people. The code that ends a request calls its owner through it. */
const requester = "^src/requester\\.ts$";
const config = "^src/config/";
/** Builds the whole server, and is the one place that knows every part. */
const server = "^src/server/";
/** The programs: the command line, and the hooks of agents alone. */
const main = "^src/(main|hook)\\.ts$";
/** The server's description of itself at the MCP endpoint. The bridge sends it while the server is away. */
const mcpOpening = "^src/protocols/mcp/(opening|rpc|tools)\\.ts$";
/** The schemas of what travels. */
const wire = "^src/wire/";
const zod = "^node_modules/zod/";
const sdk = "^sdk/src/";
const adapters = "^adapters/src/";
const web = "^web/";
/** The entries for what providers and coding agents send: the one door that knows what a channel or an agent is. */
const hooksDoor = "^src/protocols/hooks/";
const own = (folder) => `^src/${folder}/$1(/|$)`;

const IMPORTS = [
  [lib, [lib]],
  [model, [lib, model, refusals]],
  [store, [lib, model, store, refusals, context]],
  [wire, [lib, model, wire]],
  [verbs, [lib, model, store, verbs, refusals, requester, context]],
  [doors, [lib, model, wire, verbs, doors, refusals, context]],
  [protocol, [lib, model, wire, verbs, doors, own("protocols"), refusals, context]],
  [hooksDoor, [channelContract, connect]],
  [loops, [lib, model, store, verbs, loops, channelContract, responderContract, workshopContract, refusals, context]],
  [channel, [lib, model, channelContract, own("channels"), refusals, context]],
  [responder, [lib, model, responderContract, own("responders"), refusals, context]],
  [answerRunner, [roles]],
  [workshop, [lib, model, workshop, sdk]],
  [gateway, [lib, model, wire, gateway, sdk]],
  [connect, [lib, model, connect, sdk]],
  [connectRegistry, [connectAgent]],
  [connectAgent, [lib, connect, own("connect/agents")]],
  [requester, [lib, model, store, refusals]],
  [context, [lib, model, store, requester]],
  [config, [lib, model, config]],
  [cli, [lib, model, store, verbs, cli, config, server, refusals, context, mcpOpening, sdk]],
  [cli, [roles, answerRunner, workshop, worker, gateway, connect]],
  [worker, [lib, model, wire, verbs, workshop, worker, cli, sdk, refusals]],
  [server, ["^src/(?!cli/|worker/|(main|hook)\\.ts)"]],
  [main, ["^src/"]],
  [sdk, [sdk]],
  // The published package has the text of these types: scripts/build-sdk.mjs.
  ["^sdk/src/wire-schemas\\.ts$", [wire]],
  [adapters, [adapters, sdk]],
  [web, [web, sdk]],
];

/** Packages of npm and of Node: the rules of things stay free of both, and the SDK runs anywhere. */
const PACKAGES = ["npm", "npm-optional", "npm-dev", "core"];
const WITHOUT_PACKAGES = `${model}|${sdk}`;

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  allowed: [
    ...IMPORTS.map(([from, to]) => ({ from: { path: from }, to: { path: to } })),
    { from: { pathNot: WITHOUT_PACKAGES }, to: { dependencyTypes: PACKAGES } },
    // The languages of expressions and of JSON Schema are no rules of ours.
    {
      from: { path: "^src/policy/model/expression[.]ts$" },
      to: { path: "^node_modules/(@bufbuild/cel|re2js)/" },
    },
    {
      from: { path: "^src/policy/model/argument-conditions[.]ts$" },
      to: { path: "^node_modules/@cfworker/json-schema/" },
    },
  ],
  allowedSeverity: "error",
  forbidden: [
    {
      name: "no-cycles",
      comment: "Types count as code that runs does.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    ...SUBJECTS.slice(0, -1).map((room, i) => ({
      name: `${room}-comes-before`,
      comment: "A room knows those alone that stand before it in SUBJECTS.",
      severity: "error",
      from: { path: `^src/${room}/` },
      to: { path: `^src/(${SUBJECTS.slice(i + 1).join("|")})/` },
    })),
    {
      name: "types-only-context",
      comment: "context.ts is the shape of what a function is given, and nothing that runs.",
      severity: "error",
      from: { path: "^src/(?!main|server/)" },
      to: { path: context, dependencyTypesNot: ["type-only"] },
    },
    {
      name: "no-development-packages",
      comment: "The product runs without the development dependencies.",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "sdk-by-its-entries",
      comment: "Those who use the SDK import what sdk/package.json exports, by its name.",
      severity: "error",
      from: { pathNot: sdk },
      to: { path: sdk, dependencyTypesNot: ["aliased-workspace"] },
    },
    {
      name: "wire-knows-zod-alone",
      comment: "What travels is described by zod, and by nothing else from a registry or from Node.",
      severity: "error",
      from: { path: wire },
      to: { dependencyTypes: PACKAGES, pathNot: zod },
    },
    {
      name: "resolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^web/dist/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".tsx", ".mjs", ".js", ".json"],
    },
  },
};

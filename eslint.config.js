import regexp from "eslint-plugin-regexp";
import tseslint from "typescript-eslint";
import { wordsAgainstRule } from "./scripts/comment-rule.mjs";

const COMMENT_SUBJECT = {
  create: ({ sourceCode, report }) => ({
    Program() {
      for (const { value, loc } of sourceCode.getAllComments()) {
        const words = wordsAgainstRule(value);
        if (words)
          report({ loc, message: `A comment begins with its subject and says what is so, without "${words}".` });
      }
    },
  }),
};

/** Everything that is not a function of its input comes through `ctx`, so that the whole server runs from a seed. */
const THROUGH_CTX =
  "Take it from ctx (ARCHITECTURE.md): outside lib/ and server/outside.ts nothing reads a clock, chance or the network.";
const TIMERS = ["setTimeout", "setInterval", "setImmediate"];
const RANDOM = ["randomUUID", "randomBytes", "randomInt", "randomFill", "randomFillSync", "getRandomValues"];
const through = (selector) => ({ selector, message: THROUGH_CTX });

const IMPURE = {
  "no-restricted-globals": ["error", ...["fetch", ...TIMERS].map((name) => ({ name, message: THROUGH_CTX }))],
  "no-restricted-properties": [
    "error",
    ...[
      ["Date", "now"],
      ["Math", "random"],
      ["performance", "now"],
      ["process", "hrtime"],
      ["AbortSignal", "timeout"],
      ...["fetch", ...TIMERS].map((name) => ["globalThis", name]),
      ...RANDOM.map((name) => ["crypto", name]),
    ].map(([object, property]) => ({ object, property, message: THROUGH_CTX })),
  ],
  "no-restricted-imports": [
    "error",
    {
      paths: [
        ...["node:crypto", "crypto"].map((name) => ({ name, importNames: RANDOM, message: THROUGH_CTX })),
        ...["node:timers", "node:timers/promises"].map((name) => ({ name, message: THROUGH_CTX })),
      ],
    },
  ],
};
const NO_IMPURE_SYNTAX = [
  through("NewExpression[callee.name='Date'][arguments.length=0]"),
  through("CallExpression[callee.name='Date']"),
];

const BUILT_SQL = "Write SQL with the sql tag of core/store/sql.ts, so that values are parameters and never text.";
/** A template may hold constants of the program, whose names are in capitals: LISTEN takes no parameter. */
const VARYING_TEXT = [
  "TemplateLiteral:has(> :not(TemplateElement):not(Identifier[name=/^[A-Z][A-Z0-9_]*$/]))",
  "BinaryExpression[operator='+']",
];
const NO_BUILT_SQL = VARYING_TEXT.flatMap((text) => [
  { selector: `CallExpression[callee.property.name=/^(query|exec|prepare)$/] > ${text}.arguments`, message: BUILT_SQL },
  { selector: `CallExpression[callee.name='raw'] > ${text}.arguments`, message: BUILT_SQL },
]);

const OWN_NUMBERS = "What a request says in digits is read by protocols/http/query.ts, by one rule for every door.";
const NO_OWN_NUMBERS = [
  "CallExpression[callee.name=/^(Number|parseInt|parseFloat)$/]",
  "CallExpression[callee.object.name='Number'][callee.property.name=/^parse/]",
  "UnaryExpression[operator='+']",
  "MemberExpression[object.name='z'][property.name='coerce']",
].map((selector) => ({ selector, message: OWN_NUMBERS }));

const UNTYPED_REPLY =
  "A printer returns a type of src/wire: the compiler then finds a member that is missing or not declared.";
const NO_UNTYPED_REPLY = [
  ":function > TSTypeAnnotation.returnType TSObjectKeyword",
  ":function > TSTypeAnnotation.returnType > TSUnknownKeyword",
].map((selector) => ({ selector, message: UNTYPED_REPLY }));

const UNSYNCED =
  "Write it by lib/files/durable-files.ts, so that it survives a loss of power; or say in a comment that disables this rule for a line why it need not.";
const WRITES = "/^(writeFile|appendFile|rename|copyFile|cp)(Sync)?$|^createWriteStream$/";
const NO_UNSYNCED = ["callee.name", "callee.property.name"].map((name) => ({
  selector: `CallExpression[${name}=${WRITES}]`,
  message: UNSYNCED,
}));

const MARKUP = "Foreign text is only ever a text node: nothing is parsed as HTML or as a program.";
const NO_MARKUP = [
  "MemberExpression[property.name=/^(innerHTML|outerHTML|srcdoc)$/]",
  "CallExpression[callee.property.name=/^(insertAdjacentHTML|setHTMLUnsafe|parseHTMLUnsafe|createContextualFragment)$/]",
  "CallExpression[callee.object.name='document'][callee.property.name=/^write(ln)?$/]",
  "JSXAttribute[name.name=/^(dangerouslySetInnerHTML|srcdoc|srcDoc)$/]",
  "Property[key.name='dangerouslySetInnerHTML']",
].map((selector) => ({ selector, message: MARKUP }));

/** Objects and lists that are spread where they are written: their fields could stand there themselves. */
const PACKED =
  "Write the fields of this object, or the items of this list, where it is spread: one a line is how they are read.";
const NO_PACKING = [
  "ObjectExpression > SpreadElement > ObjectExpression",
  "ObjectExpression > SpreadElement > TSAsExpression > ObjectExpression",
  "JSXSpreadAttribute > ObjectExpression",
  ":matches(ArrayExpression, CallExpression, NewExpression) > SpreadElement > ArrayExpression",
  ":matches(ArrayExpression, CallExpression, NewExpression) > SpreadElement > TSAsExpression > ArrayExpression",
].map((selector) => ({ selector, message: PACKED }));

const REAL_TIME =
  "Wait for what must come, by until of test/support/contract.ts, or move a held clock: a busy machine makes any time too short.";
const NO_REAL_TIME = [
  "CallExpression[callee.name=/^(setTimeout|setInterval|sleep|pause)$/]",
  "CallExpression[callee.property.name=/^(setTimeout|setInterval)$/]",
  "CallExpression[callee.object.name=/[cC]lock$/][callee.property.name='sleep']",
  "CallExpression[callee.object.property.name=/[cC]lock$/][callee.property.name='sleep']",
  "ImportDeclaration[source.value='node:timers/promises']",
].map((selector) => ({ selector, message: REAL_TIME }));
const THROUGH_CONNECTION = "Go through Connection (sdk/src/http.ts), which follows nobody with a key.";

/**
 * A pattern that tries again from each character of a run, such as one that ends in `+$`, takes time by the square of a
 * text that somebody made for it. A lookbehind for the start of the run is the remedy: `(?<! ) +$`.
 */
const LINEAR_PATTERNS = {
  "regexp/no-super-linear-move": ["error", { report: "certain" }],
  "regexp/no-super-linear-backtracking": ["error", { report: "certain" }],
};

/** Files whose tests need real time, each with why. */
const NEED_REAL_TIME = [
  // A browser's page runs on its own clock.
  "test/browser/app.large.test.ts",
  // A browser forgets a press after five seconds.
  "test/browser/prompt-pad.large.test.ts",
  // A proxy cuts a reply in its middle.
  "test/cli/doctor-client.large.test.ts",
  // A command looks at a transcript every two seconds, and shows nothing of it.
  "test/cli/hook-claude.large.test.ts",
  // A reader of the documents acts until its examples are over.
  "test/project/docs.large.test.ts",
  // An SDK waits between two polls.
  "test/protocols/http/restart.large.test.ts",
  // A process is killed at any moment of its work.
  "test/workshop/git-interrupted.large.test.ts",
  // A supervisor in a process of its own counts an agent's silence.
  "test/workshop/supervisor-life.large.test.ts",
];

/** The rules of every door. */
const AT_DOORS = [...NO_PACKING, ...NO_BUILT_SQL, ...NO_UNSYNCED, ...NO_IMPURE_SYNTAX, ...NO_OWN_NUMBERS];

export default tseslint.config(
  {
    ignores: [
      "web/dist/",
      "sdk/dist/",
      "adapters/dist/",
      "coverage/",
      ".tools/",
      "site/dist/",
      "site/pages/",
      "site/.vitepress/cache/",
      ".parley/",
      "data/",
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  { files: ["**/*.{ts,tsx,js,mjs}"], rules: { "no-restricted-syntax": ["error", ...NO_PACKING] } },
  { files: ["**/*.{ts,tsx,js,mjs}"], rules: { "max-params": ["error", 4] } },
  {
    files: ["**/*.{ts,tsx,js,mjs}"],
    plugins: { parley: { rules: { "comment-subject": COMMENT_SUBJECT } } },
    rules: { "parley/comment-subject": "error" },
  },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.recommended],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/no-floating-promises": [
        "error",
        {
          allowForKnownSafeCalls: [
            {
              from: "package",
              package: "node:test",
              name: ["describe", "it", "suite", "test", "skip", "before", "after"],
            },
          ],
        },
      ],
      "@typescript-eslint/no-misused-promises": [
        "error",
        { checksVoidReturn: { arguments: false, attributes: false } },
      ],
      "@typescript-eslint/only-throw-error": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/ban-ts-comment": [
        "error",
        { "ts-expect-error": true, "ts-ignore": true, "ts-nocheck": true },
      ],
    },
  },
  {
    files: ["src/**/*.ts"],
    rules: { "no-restricted-syntax": ["error", ...NO_PACKING, ...NO_BUILT_SQL, ...NO_UNSYNCED] },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/lib/**", "src/server/outside.ts"],
    rules: {
      ...IMPURE,
      "no-restricted-syntax": ["error", ...NO_PACKING, ...NO_BUILT_SQL, ...NO_UNSYNCED, ...NO_IMPURE_SYNTAX],
    },
  },
  {
    files: ["src/protocols/**/*.ts"],
    ignores: ["src/protocols/http/query.ts"],
    rules: { "no-restricted-syntax": ["error", ...AT_DOORS] },
  },
  {
    files: ["src/protocols/**/{print*,*-wire}.ts", "src/protocols/http/{question,task,work}.ts"],
    rules: { "no-restricted-syntax": ["error", ...AT_DOORS, ...NO_UNTYPED_REPLY] },
  },
  {
    files: ["sdk/src/**/*.ts", "adapters/src/**/*.ts"],
    // The one fetch that is wrapped: it follows no redirect.
    ignores: ["sdk/src/http.ts"],
    rules: {
      "no-restricted-globals": ["error", { name: "fetch", message: THROUGH_CONNECTION }],
      "no-restricted-properties": ["error", { object: "globalThis", property: "fetch", message: THROUGH_CONNECTION }],
    },
  },
  {
    files: ["src/lib/files/durable-files.ts"],
    rules: { "no-restricted-syntax": ["error", ...NO_PACKING, ...NO_BUILT_SQL] },
  },
  { files: ["web/**/*.{ts,tsx}"], rules: { "no-restricted-syntax": ["error", ...NO_PACKING, ...NO_MARKUP] } },
  {
    files: ["src/**/*.ts", "sdk/src/**/*.ts", "adapters/src/**/*.ts", "web/src/**/*.{ts,tsx}"],
    // Migrations are texts of SQL.
    ignores: ["src/core/store/migrations/**"],
    rules: {
      "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true, IIFEs: true }],
    },
  },
  {
    files: ["src/**/*.ts", "sdk/src/**/*.ts", "adapters/src/**/*.ts", "web/src/**/*.{ts,tsx}"],
    plugins: { regexp },
    rules: LINEAR_PATTERNS,
  },
  {
    files: ["test/**/*.test.ts"],
    ignores: ["test/proof/**", "test/agents/**", "test/site/**", ...NEED_REAL_TIME],
    rules: { "no-restricted-syntax": ["error", ...NO_PACKING, ...NO_REAL_TIME] },
  },
  { files: ["**/*.{js,mjs}"], extends: [tseslint.configs.recommended] },
);

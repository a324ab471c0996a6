import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { findAlikeNames } from "../../src/gateway/alike-names.ts";
import { lineOf, NotPassedOn, readClientLine, readServerLine } from "../../src/gateway/messages.ts";
import { callLine, readCall } from "../../src/gateway/tool-call.ts";
import { answeredIds } from "../../src/gateway/unreadable-line.ts";

type Json = Record<string, unknown>;

const PRINTABLE_ASCII = /^[ -~]*$/;
const text = fc.string({ unit: "grapheme" });
/** Texts with the characters that end a line somewhere. */
const lines = fc.string({
  unit: fc.constantFrom("\n", "\r", "\v", "\f", "\u001c", "\u0085", "\u2028", "\u2029", "ą", "{"),
});
const word = fc.oneof(text, lines);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    word,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.constantFrom(null, true, false),
    fc.array(tie("value")),
    fc.dictionary(word, tie("value"), { noNullPrototype: true }),
  ),
}));
const members = fc.dictionary(word, value, { noNullPrototype: true });
const id = fc.oneof(word, fc.integer());
const jsonrpc = fc.constant("2.0");
const message = fc.oneof(
  fc.record({ jsonrpc, id, method: word.filter((one) => !/tools\/call/i.test(one)), params: members }),
  fc.record({ jsonrpc, method: fc.constant("notifications/cancelled"), params: members }),
  fc.record({ jsonrpc, id, result: value }),
  fc.record({ jsonrpc, id, error: members }),
);

const sent = (line: string) => lineOf(readClientLine(line).json);
const callSent = (params: Json) => {
  const read = readCall(readClientLine(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })), 1);
  return callLine(read, read.args);
};
const refusal = (run: () => unknown): { id: unknown; code: number; says: string } => {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof NotPassedOn);
    const { id: about, error: answer } = JSON.parse(error.answer) as {
      id: unknown;
      error: { code: number; message: string };
    };
    return { id: about, code: answer.code, says: answer.message };
  }
  return assert.fail("it is passed on");
};

describe("a message on its way to the server", () => {
  it("is one line of printable ASCII that says what the client's line said", () => {
    fc.assert(
      fc.property(message, fc.constantFrom(undefined, 1, "\r", "\t"), (json, blanks) => {
        const line = sent(JSON.stringify(json, undefined, blanks));
        assert.match(line, PRINTABLE_ASCII);
        assert.deepEqual(JSON.parse(line), JSON.parse(JSON.stringify(json)));
      }),
      { numRuns: 500 },
    );
  });

  it("has the arguments of a call as they were, in the same form of line", () => {
    fc.assert(
      fc.property(word, members, (name, args) => {
        const line = callSent({ name, arguments: args });
        assert.match(line, PRINTABLE_ASCII);
        assert.deepEqual(JSON.parse(line).params, JSON.parse(JSON.stringify({ name, arguments: args })));
      }),
      { numRuns: 500 },
    );
  });

  it("keeps every digit of an integer", () => {
    const digits = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"at":123456789012345678901234567890}}';
    assert.equal(sent(digits), digits);
    assert.match(sent('{"id":12345678901234567890,"method":"ping"}'), /^\{"id":12345678901234567890,/);
  });

  it("has no member that JSON-RPC does not have", () => {
    assert.equal(
      sent('{"jsonrpc":"2.0","id":1,"method":"ping","result":{},"extra":{"method":"tools/call"}}'),
      '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    );
    assert.equal(
      sent('{"jsonrpc":"2.0","id":1,"result":{},"params":{},"_meta":{}}'),
      '{"jsonrpc":"2.0","id":1,"result":{}}',
    );
  });

  it("is refused where a name or the method is the protocol's in other letters, for parsers that fold them", () => {
    for (const name of ["Method", "param\u017f", "PARAMS", "re\u017fult", "j\u017fonrpc", "ID"]) {
      const { id: about, code } = refusal(() =>
        sent(JSON.stringify({ jsonrpc: "2.0", id: 3, method: "ping", [name]: {} })),
      );
      assert.deepEqual([about, code], [3, -32600], name);
    }
    for (const method of ["Tools/Call", "tool\u017f/call", " tools/call ", "tools/call\r"]) {
      assert.equal(refusal(() => sent(JSON.stringify({ id: 3, method }))).id, 3, method);
    }
  });

  it("is refused where it is neither request, notification nor response", () => {
    for (const line of [
      "{}",
      '{"id":1}',
      '{"result":{}}',
      '{"id":{},"method":"ping"}',
      '{"id":1,"method":["tools/call"]}',
      "[]",
      "5",
    ]) {
      assert.equal(refusal(() => sent(line)).code, -32600, line);
    }
    for (const line of [
      '{"id":1,"id":2,"method":"ping"}',
      '{"method":"a\\ud800"}',
      '{"method":"a","params":{"x":1e999}}',
      "{",
    ]) {
      assert.equal(refusal(() => sent(line)).code, -32700, line);
    }
  });
});

describe("a tools/call on its way to the server", () => {
  it("has of _meta the names of the protocol alone", () => {
    const meta = {
      progressToken: 7,
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/logLevel": "info",
      "io.modelcontextprotocol/related-task": { taskId: "t" },
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      tracestate: "a=b",
      baggage: "c=d",
    };
    const more = { "shop.example/as": "admin", ProgressToken: 8, "io.modelcontextprotocol/other": true };
    assert.deepEqual(JSON.parse(callSent({ name: "a", _meta: { ...meta, ...more } })).params, {
      name: "a",
      _meta: meta,
    });
    for (const other of [{ progressToken: { as: "admin" } }, { baggage: ["x"] }, "text", null]) {
      assert.deepEqual(JSON.parse(callSent({ name: "a", _meta: other })).params, { name: "a" });
    }
  });

  it("is refused with another member, by its name, unless that is null", () => {
    for (const name of ["task", "Arguments", "argument\u017f", "Name", "timeout"]) {
      const { id: about, says } = refusal(() => callSent({ name: "a", arguments: {}, [name]: {} }));
      assert.equal(about, 1);
      assert.ok(says.includes(JSON.stringify(name)), says);
    }
    assert.deepEqual(JSON.parse(callSent({ name: "a", arguments: null, task: null })).params, { name: "a" });
  });
});

describe("names in arguments", () => {
  const schema = {
    properties: {
      path: { type: "string" },
      inner: { properties: { key: {} } },
      list: { items: { properties: { mask: {} } } },
      a: {},
      A: {},
    },
  };
  it("are alike where a parser that folds letters takes one for another, or for one of the schema", () => {
    for (const args of [
      { path: 1, Path: 2 },
      { Path: 1 },
      { inner: { Key: 1 } } as Json,
      { list: [{ maſk: 1 }] } as Json,
      { other: [{ x: 1, X: 2 }] },
      { straße: 1, STRAẞE: 1 } as Json,
    ]) {
      assert.ok(findAlikeNames(args, schema), JSON.stringify(args));
    }
    for (const args of [
      { path: 1, inner: { key: 1 } },
      { a: 1, A: 2 },
      { x: { path: 1 }, X1: { Path: 1 } },
    ]) {
      assert.equal(findAlikeNames(args, schema), undefined, JSON.stringify(args));
    }
  });
});

describe("a line of a server that is not JSON", () => {
  it("answers the requests whose ids stand in its outermost objects", () => {
    for (const [line, ids] of [
      ['{"jsonrpc":"2.0","id":5,"result":{"id":6,"mean":NaN}}', [5]],
      ['{"result":{"content":[{"text":"\\"id\\":7"}],"x":-Infinity},"id":"a"}', ["a"]],
      ["{'jsonrpc': '2.0', 'id': 5, 'result': {'ok': True}}", [5]],
      ['{"id":1,"result":{}}{"id":2,"result":{}}', [1, 2]],
      ['[{"id":1,"result":NaN},{"id":2,"result":{}}]', [1, 2]],
      ['INFO {"id" : 3 , "result":{}}', [3]],
      ['{"id":4,"result":{"text":"cut', [4]],
      ['{"id":4,"method":"elicitation/create","params":NaN}', []],
      ['{"name":"id","x":NaN}', []],
      ["no message", []],
    ] as const) {
      assert.deepEqual(answeredIds(line), ids, line);
      assert.deepEqual(
        readServerLine(line).map(({ json }) => Object.keys(json)),
        ids.map(() => ["id"]),
      );
    }
  });
});

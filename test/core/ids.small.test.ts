import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AskId, QuestionId, RequestId } from "../../src/core/model/ids.ts";

type Takes<Wanted, Given> = [Given] extends [Wanted] ? true : false;

describe("the id of a noun", () => {
  it("is refused by the compiler where the id of another noun is wanted, and a text from outside is taken", () => {
    const taken: [
      Takes<QuestionId, RequestId>,
      Takes<RequestId, AskId>,
      Takes<AskId, QuestionId>,
      Takes<RequestId, string>,
      Takes<string, RequestId>,
    ] = [false, false, false, true, true];
    assert.equal(taken.length, 5);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { numberForms, phoneNumber } from "../../src/lib/phone-number.ts";

const NUMBERS: readonly [number: string | undefined, ...texts: readonly string[]][] = [
  ["+491705550101", "+49 (0) 170 5550101", "+49(0)1705550101", "+49-(0)-170-555 01 01", "+49 ( 0 ) 170/5550101"],
  [
    "+491705550101",
    "+49 [0] 170 5550101",
    "+49.(0).170.5550101",
    "+49 170 5550101",
    "＋４９ (0) １７０ ５５５０１０１",
  ],
  [
    "+491705550101",
    "+49\u00a0(0)\u00a0170\u00a05550101",
    "+49 170–555–0101",
    "\u202a+49 170 5550101\u202c",
    "+(49) 170 5550101",
  ],
  ["+442079460958", "+44 (0)20 7946 0958", "+44 (0) (20) 7946 0958", "+44 (20) 7946 0958"],
  ["+353861234567", "+353 (0)86 123 4567"],
  ["+12025550123", "+1 (202) 555-0123"],
  ["+4915501005550", "+49 155 (0) 1005550"],
  ["+390612345678", "+39 06 1234 5678", "+39 (06) 1234 5678"],
  ["+2250701020304", "+225 07 01 02 03 04"],
  [undefined, "+49 0170 5550101", "+49 (0170) 5550101", "+4901705550101", "+44 020 7946 0958", "+49 (0) 0170 5550101"],
  [undefined, "+39 (0) 6 1234 5678", "+225 (0) 7 01 02 03 04", "+491 (0) 705550101", "+1 (0) (0) 202 555 0123"],
  [
    undefined,
    "0170 5550101",
    "0049 170 5550101",
    "+0491705550101",
    "+49",
    "",
    "abc",
    `+${"4".repeat(16)}`,
    "+49 170 x5550101",
  ],
];

describe("a phone number", () => {
  for (const [number, ...texts] of NUMBERS) {
    it(`is ${number ?? "not in"} ${JSON.stringify(texts)}`, () => {
      for (const text of texts) assert.equal(phoneNumber(text), number, text);
    });
  }
});

describe("the forms of a telephone number", () => {
  const PAIRS = [
    ["+525512345678", "+5215512345678"],
    ["+541112345678", "+5491112345678"],
    ["+551181234567", "+5511981234567"],
  ] as const;

  it("are two where WhatsApp writes a number of Mexico, Argentina or Brazil in another way than people", () => {
    for (const [one, other] of PAIRS) {
      assert.deepEqual(numberForms(one), [one, other]);
      assert.deepEqual(numberForms(other), [other, one]);
    }
  });

  it("are one for each other number", () => {
    const others = ["+491705550101", "+12025550123", "+551133334444", "+52551234567", "+5411123456", "+5511933334444"];
    for (const number of others) assert.deepEqual(numberForms(number), [number]);
  });
});

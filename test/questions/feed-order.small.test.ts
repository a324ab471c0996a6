import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  compareForFeed,
  pageOf,
  settleCrowded,
  urgencyAt,
  type FeedEntry,
  type FeedPosition,
} from "../../src/questions/model/feed.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOON = Date.UTC(2026, 1, 2, 12);

const question: FeedEntry = {
  id: "q",
  need: 6,
  n: 0,
  createdAt: NOON,
  expiresAt: NOON + 60 * MINUTE,
  lastAnswerAt: null,
  audience: ["general"],
};

const entry = fc
  .record({
    id: fc.uuid(),
    need: fc.integer({ min: 1, max: 50 }),
    ageS: fc.integer({ min: 0, max: 86_000 }),
    idleS: fc.integer({ min: 0, max: 86_000 }),
    leftS: fc.integer({ min: 1, max: 86_400 }),
    given: fc.nat(),
  })
  .map(({ id, need, ageS, idleS, leftS, given }): FeedEntry => {
    const n = given % need;
    return {
      id,
      need,
      n,
      createdAt: NOON - ageS * 1000,
      expiresAt: NOON + leftS * 1000,
      lastAnswerAt: n > 0 ? NOON - Math.min(ageS, idleS) * 1000 : null,
      audience: ["general"],
    };
  });
const tieOf = (id: string) => id;

describe("the order of the feed", () => {
  it("is need by time left, doubled for every quarter of an hour alone", () => {
    const fresh = question;
    assert.equal(urgencyAt(fresh, NOON), 6 / 60);
    assert.equal(urgencyAt(fresh, NOON + 15 * MINUTE - 1), 6 / ((45 * MINUTE + 1) / MINUTE));
    assert.equal(urgencyAt(fresh, NOON + 15 * MINUTE), (6 / 45) * 2);
    assert.equal(urgencyAt(fresh, NOON + 30 * MINUTE), (6 / 30) * 4);
    assert.equal(urgencyAt({ ...fresh, n: 2, lastAnswerAt: NOON + 20 * MINUTE }, NOON + 30 * MINUTE), 4 / 30);
    assert.equal(urgencyAt({ ...fresh, expiresAt: NOON + 30 * MINUTE }, NOON + 30 * MINUTE - 1), 6 * 2);
    assert.equal(urgencyAt({ ...fresh, expiresAt: NOON + 10 * DAY }, NOON + 9 * DAY), (6 / 1440) * 2 ** 20);
  });

  it("lets nothing starve: whoever was alone for four hours and a quarter stands before every fresh question", () => {
    fc.assert(
      fc.property(
        fc.record({
          alone: fc.integer({ min: 255 * 60, max: 86_399 }),
          left: fc.integer({ min: 1, max: 86_400 }),
          need: fc.integer({ min: 1, max: 50 }),
        }),
        fc.record({
          age: fc.integer({ min: 0, max: 15 * 60 - 1 }),
          timeout: fc.integer({ min: 60, max: 86_400 }),
          need: fc.integer({ min: 1, max: 50 }),
        }),
        (old, young) => {
          fc.pre(old.alone + old.left <= 86_400 && young.age < young.timeout);
          const at = (one: { need: number; createdAt: number; expiresAt: number }): FeedEntry => ({
            ...question,
            ...one,
          });
          const alone = at({ need: old.need, createdAt: NOON - old.alone * 1000, expiresAt: NOON + old.left * 1000 });
          const createdAt = NOON - young.age * 1000;
          const fresh = at({ need: young.need, createdAt, expiresAt: createdAt + young.timeout * 1000 });
          assert.ok(urgencyAt(alone, NOON) > urgencyAt(fresh, NOON));
        },
      ),
    );
  });

  it("falls for a question that is answered, and for no other reason while page one's time stands", () => {
    fc.assert(
      fc.property(entry, fc.integer({ min: 0, max: 3600 }), (one, laterS) => {
        fc.pre(one.n + 1 < one.need);
        const answered = { ...one, n: one.n + 1, lastAnswerAt: NOON + laterS * 1000 };
        assert.ok(urgencyAt(answered, NOON) <= urgencyAt(one, NOON));
      }),
    );
  });

  it("shows every question on one of its pages, whatever is answered or closed meanwhile", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(entry, { selector: ({ id }) => id, minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        fc.array(fc.tuple(fc.nat(), fc.boolean()), { maxLength: 60 }),
        (entries, limit, changes) => {
          let open = entries;
          const closed = new Set<string>();
          const seen: string[] = [];
          let after: FeedPosition | undefined;
          for (let page = 0; page < 200; page += 1) {
            const { page: shown, more } = pageOf(open, { at: NOON, limit, tieOf, ...(after && { after }) });
            assert.ok(shown.length <= limit);
            assert.deepEqual(shown, shown.toSorted(compareForFeed));
            seen.push(...shown.map((place) => place.entry.id));
            if (!more) break;
            after = shown.at(-1);
            for (const [which, closes] of changes.splice(0, 3)) {
              const one = open[which % open.length];
              if (!one) continue;
              const full = closes || one.n + 1 >= one.need;
              if (full) closed.add(one.id);
              open = open.flatMap((each) => {
                if (each.id !== one.id) return [each];
                return full ? [] : [{ ...each, n: each.n + 1, lastAnswerAt: NOON + page * 1000 }];
              });
            }
          }
          for (const { id } of entries) assert.ok(closed.has(id) || seen.includes(id));
        },
      ),
    );
  });

  it("is the same whether all are ranked or only those that reach the page, equals among them", () => {
    const equals = fc.array(entry.map((one) => ({ ...one, need: one.n + 1, expiresAt: NOON + DAY / 2 })));
    fc.assert(
      fc.property(fc.array(entry), equals, fc.integer({ min: 1, max: 9 }), fc.nat(), (some, alike, limit, place) => {
        const all = [...some, ...alike]
          .map((one) => ({ entry: one, urgency: urgencyAt(one, NOON), tie: tieOf(one.id) }))
          .sort(compareForFeed);
        const after = all[place % (all.length + 1)];
        const rest = after ? all.filter((one) => compareForFeed(after, one) < 0) : all;
        const { page, more } = pageOf([...some, ...alike], { at: NOON, limit, tieOf, ...(after && { after }) });
        assert.deepEqual(
          page.map(({ entry: { id }, urgency, tie }) => ({ id, urgency, tie })),
          rest.slice(0, limit).map(({ entry: { id }, urgency, tie }) => ({ id, urgency, tie })),
        );
        assert.equal(more, rest.length > limit);
      }),
    );
  });

  it("puts the crowded last and loses none of them", () => {
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: ({ id }) => id }), fc.func(fc.nat(60)), (entries, othersOn) => {
        const { page } = pageOf(entries, { at: NOON, limit: 50, tieOf });
        const settled = settleCrowded(page, othersOn);
        const isCrowded = (place: (typeof page)[number]) =>
          othersOn(place.entry.id) >= place.entry.need - place.entry.n;
        assert.deepEqual(settled, [...page.filter((place) => !isCrowded(place)), ...page.filter(isCrowded)]);
      }),
    );
  });
});

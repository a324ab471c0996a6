import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Queryable } from "../../src/core/store/db.ts";
import { readKinds } from "../../src/core/store/read-kinds.ts";
import { flag, json, optional, rowsOf, type RowOf } from "../../src/core/store/rows.ts";
import { sql } from "../../src/core/store/sql.ts";

interface Parcel {
  id: string;
  weight: number | null;
  isOpen: boolean | null;
  place: { kind: string } | null;
  note?: string;
  tags?: readonly string[];
  size: { width: number; height: number };
  sentAt: number;
}

const parcelRows = rowsOf<Parcel>()({
  id: "parcel_id",
  weight: "weight",
  isOpen: flag("open"),
  place: json("place_json", readKinds),
  note: optional("note"),
  tags: optional(json("tags_json")),
  size: ({ width, height }: { width: number; height: number }) => ({ width, height }),
  sentAt: "sent_at",
});

type Takes<Noun extends object, Sources> = Sources extends Parameters<ReturnType<typeof rowsOf<Noun>>>[0]
  ? true
  : false;

type ParcelRow = RowOf<typeof parcelRows>;

const ROW: ParcelRow = {
  sent_at: 7,
  parcel_id: "p1",
  weight: 3,
  open: 1,
  place_json: '{"is":"shelf"}',
  note: "fragile",
  tags_json: '["red"]',
  width: 2,
  height: 5,
};
const PARCEL: Parcel = {
  id: "p1",
  weight: 3,
  isOpen: true,
  place: { kind: "shelf" },
  note: "fragile",
  tags: ["red"],
  size: { width: 2, height: 5 },
  sentAt: 7,
};
const BARE = { ...ROW, weight: null, open: null, place_json: null, note: null, tags_json: null };

describe("rows of a noun", () => {
  it("are read with members in the order of their sources, and without columns that no source names", () => {
    const row = { ...ROW, secret: "x" };
    assert.equal(JSON.stringify(parcelRows.read(row)), JSON.stringify(PARCEL));
  });

  it("keep null, and leave an optional member out where its column is null or was not selected", () => {
    const { note: _note, tags: _tags, ...others } = PARCEL;
    const bare = { ...others, weight: null, isOpen: null, place: null };
    assert.deepEqual(parcelRows.read(BARE), bare);
    const { note: _noteColumn, tags_json: _tagsColumn, ...selected } = BARE;
    assert.deepEqual(parcelRows.read(selected as ParcelRow), bare);
    assert.deepEqual(parcelRows.read({ ...BARE, open: 0 }).isOpen, false);
  });

  it("are the whole of another noun, or a part of it", () => {
    const stored = rowsOf<{ parcel: Parcel; now: number }>()({ parcel: parcelRows.read, now: "now" });
    assert.deepEqual(stored.read({ ...ROW, now: 9 }), { parcel: PARCEL, now: 9 });
  });

  it("come from a statement: the first, the only or all", async () => {
    const on = (...rows: ParcelRow[]): Queryable => ({ dialect: "sqlite", all: async <Row>() => rows as Row[] });
    const statement = sql`SELECT * FROM parcels`;
    assert.deepEqual(await parcelRows.all(on(ROW, ROW), statement), [PARCEL, PARCEL]);
    assert.deepEqual(await parcelRows.first(on(ROW), statement), PARCEL);
    assert.equal(await parcelRows.first(on(), statement), undefined);
    assert.deepEqual(await parcelRows.one(on(ROW), statement), PARCEL);
    await assert.rejects(parcelRows.one(on(), statement), /no row from: SELECT \* FROM parcels/);
  });

  it("cannot be written with a source that does not fit its member", () => {
    const taken: [
      Takes<{ isOpen: boolean }, { isOpen: "open" }>,
      Takes<{ tags: string[] }, { tags: "tags" }>,
      Takes<{ note?: string }, { note: "note" }>,
      Takes<{ id: string; note: string }, { id: "id" }>,
      Takes<{ id: string; note: string }, { id: "id"; note: "note_text" }>,
    ] = [false, false, false, false, true];
    assert.equal(taken.length, 5);
  });
});

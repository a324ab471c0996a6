import { randomBytes } from "node:crypto";
import pg from "pg";
import { databaseUrl } from "./postgres.ts";

/** Returns the address of a new, empty database on the tests' PostgreSQL. */
export async function freshDatabase(): Promise<string> {
  const url = new URL(await databaseUrl());
  const name = `fresh_${randomBytes(8).toString("hex")}`;
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  url.pathname = `/${name}`;
  return url.href;
}

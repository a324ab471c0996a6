import { parseArgs } from "node:util";
import { printable } from "../lib/printable.ts";
import { addPerson, listPeople } from "../verbs/add-person.ts";
import { removeHuman } from "../verbs/enroll-human.ts";
import { listPeopleAndSessions } from "../verbs/list-people.ts";
import { Refusal } from "../refusals.ts";
import { COMMAND_LINE, STORE_OPTIONS, withStore } from "./command-store.ts";
import { type Command, EXIT, onlyArgument, STORE_FLAGS } from "./command.ts";
import { table } from "./table.ts";

export const peopleAdd: Command = {
  usage: "NAME [--admin]",
  does: "add somebody who can sign in, and print their id",
  flags: { "--admin": "may run this server", ...STORE_FLAGS },
  example: 'parley link --person $(parley people add "Ana Ruiz")',
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...STORE_OPTIONS, admin: { type: "boolean" } },
    });
    const name = onlyArgument(positionals, "NAME");
    const person = await withStore(values, io, (ctx) =>
      addPerson(ctx, { name, role: values.admin ? "admin" : "member" }, COMMAND_LINE),
    );
    io.out(person.id);
    return EXIT.done;
  },
};

export const peopleList: Command = {
  usage: "[--json]",
  does: "list everybody who can sign in",
  flags: { "--json": "print JSON", ...STORE_FLAGS },
  example: "parley people list",
  async run(argv, io) {
    const { values } = parseArgs({ args: [...argv], options: { ...STORE_OPTIONS, json: { type: "boolean" } } });
    const people = await withStore(values, io, (ctx) => listPeople(ctx));
    if (values.json) {
      io.out(JSON.stringify(people));
      return EXIT.done;
    }
    const rows = people.map(({ id, role, name }) => [id, role, printable(name)]);
    for (const line of table(["PERSON", "ROLE", "NAME"], rows)) io.out(line);
    return EXIT.done;
  },
};

export const peopleRemove: Command = {
  usage: "ID [--json]",
  does: "retire somebody: sessions, links and keys of theirs end, and what only they were asked goes to who sees all",
  flags: { "--json": "print JSON", ...STORE_FLAGS },
  example: "parley people remove person_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...STORE_OPTIONS, json: { type: "boolean" } },
    });
    const wanted = onlyArgument(positionals, "ID");
    const { id, name } = await withStore(values, io, async (ctx) => {
      const person = (await listPeopleAndSessions(ctx)).find((one) => one.id === wanted);
      if (!person) throw new Refusal("person_not_found", { person: wanted });
      await removeHuman(ctx, person.number, COMMAND_LINE);
      return person;
    });
    if (values.json) io.out(JSON.stringify({ id, name, removed: true }));
    else io.tell(`${printable(name)} (${id}) can no longer be asked, sign in or answer.`);
    return EXIT.done;
  },
};

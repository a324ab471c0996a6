import { parseArgs } from "node:util";
import { mailAddress } from "../../lib/mail-address.ts";
import { printable, printableJson } from "../../lib/printable.ts";
import { addPerson, listPeople } from "../../access/add-person.ts";
import { removeHuman } from "../../requests/remove-human.ts";
import { listPeopleAndSessions } from "../../access/list-people.ts";
import { Refusal } from "../../refusals.ts";
import { COMMAND_LINE, STORE_OPTIONS, withStore } from "../command-store.ts";
import { type Command, EXIT, onlyArgument, STORE_FLAGS, WrongUsage } from "../command.ts";
import { namedInSettings } from "./named-in-settings.ts";
import { table } from "../table.ts";

export const peopleAdd: Command = {
  usage: "NAME [--email ADDRESS] [--admin]",
  flags: {
    "--email ADDRESS": "where mail reaches them; left out, they are asked in the inbox, and on devices they sign in on",
    "--admin": "may run this server",
    ...STORE_FLAGS,
  },
  example: 'parley people add "Ana Ruiz" --email ana@example.com',
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...STORE_OPTIONS, email: { type: "string" }, admin: { type: "boolean" } },
    });
    const name = onlyArgument(positionals, "NAME");
    const email = values.email === undefined ? undefined : mailAddress(values.email);
    if (values.email !== undefined && email === undefined)
      throw new WrongUsage("--email must be one mail address, such as ana@example.com");
    const role = values.admin ? "admin" : "member";
    const { person, config } = await withStore(values, io, async (ctx, config) => ({
      person: await addPerson(ctx, { name, role, email }, COMMAND_LINE),
      config,
    }));
    io.out(person.id);
    io.tell(`Signs in with the link that this prints: parley link --person ${person.id}`);
    if (email !== undefined && (!config.email.smtpUrl || !config.email.from))
      io.tell("No mail is sent yet: set email.smtp_url and email.from (docs/how-to/email.md).");
    return EXIT.done;
  },
};

export const peopleList: Command = {
  usage: "[--json]",
  flags: { "--json": "print JSON", ...STORE_FLAGS },
  example: "parley people list",
  async run(argv, io) {
    const { values } = parseArgs({ args: [...argv], options: { ...STORE_OPTIONS, json: { type: "boolean" } } });
    const people = await withStore(values, io, (ctx) => listPeople(ctx));
    if (values.json) {
      const wire = people.map(({ formerId, ...person }) => ({ ...person, ...(formerId && { former_id: formerId }) }));
      io.out(printableJson(JSON.stringify(wire)));
      return EXIT.done;
    }
    const rows = people.map(({ id, role, name }) => [id, role, printable(name)]);
    for (const line of table(["PERSON", "ROLE", "NAME"], rows)) io.out(line);
    return EXIT.done;
  },
};

export const peopleRemove: Command = {
  usage: "ID [--json]",
  flags: { "--json": "print JSON", ...STORE_FLAGS },
  example: "parley people remove 7",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...STORE_OPTIONS, json: { type: "boolean" } },
    });
    const wanted = onlyArgument(positionals, "ID");
    const { id, name, named } = await withStore(values, io, async (ctx, config) => {
      const person = (await listPeopleAndSessions(ctx)).find((one) => one.id === wanted);
      if (!person) throw new Refusal("person_not_found", { person: wanted });
      await removeHuman(ctx, Number(person.id), COMMAND_LINE);
      return { ...person, named: namedInSettings(config, person) };
    });
    const places = [...named.refused, ...named.passedOver];
    if (values.json) io.out(printableJson(JSON.stringify({ id, name, removed: true, named_in: places })));
    else io.tell(`${printable(name)} (${id}) can no longer be asked, sign in or answer.`);
    if (places.length > 0) io.tell(`The settings still name ${printable(name)}: ${printable(places.join(", "))}.`);
    if (named.refused.length > 0) {
      io.tell(`No server starts on them before this is changed: ${printable(named.refused.join(", "))}.`);
    }
    return EXIT.done;
  },
};

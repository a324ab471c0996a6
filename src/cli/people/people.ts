import { mailAddress } from "../../lib/mail-address.ts";
import { printable } from "../../lib/printable.ts";
import { addPerson, listPeople } from "../../access/add-person.ts";
import { removeHuman } from "../../requests/end/remove-human.ts";
import { listPeopleAndSessions } from "../../access/list-people.ts";
import { Refusal } from "../../refusals.ts";
import { WrongUsage } from "../arguments.ts";
import { COMMAND_LINE, withStore } from "../command-store.ts";
import { command, EXIT, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { namedInSettings } from "./named-in-settings.ts";
import { print, table } from "../print.ts";

export const peopleAdd = command({
  takes: {
    NAME: "",
    "--email ADDRESS": {
      help: "where mail reaches them; left out, they are asked in the inbox, and on devices they sign in on",
      read: mailFrom,
    },
    "--admin": "may run this server",
    ...STORE_FLAGS,
  },
  example: 'parley people add "Ana Ruiz" --email ana@example.com',
  async run({ name, email, admin, ...place }, io) {
    const role = admin ? "admin" : "member";
    const { person, config } = await withStore(
      place,
      io,
      async (ctx, config) => ({
        person: await addPerson(ctx, { name, role, email }, COMMAND_LINE),
        config,
      }),
      { mayBegin: true },
    );
    io.out(person.id);
    io.tell(`Signs in with the link that this prints: parley link --person ${person.id}`);
    if (email !== undefined && (!config.email.smtpUrl || !config.email.from))
      io.tell("No mail is sent yet: set email.smtp_url and email.from (docs/how-to/email.md).");
    return EXIT.done;
  },
});

function mailFrom(text: string): string {
  const email = mailAddress(text);
  if (email === undefined) throw new WrongUsage("--email must be one mail address, such as ana@example.com");
  return email;
}

export const peopleList = command({
  takes: { ...JSON_FLAG, ...STORE_FLAGS },
  example: "parley people list",
  async run({ json, ...place }, io) {
    const people = await withStore(place, io, (ctx) => listPeople(ctx));
    const wire = people.map(({ formerId, ...person }) => ({ ...person, ...(formerId && { former_id: formerId }) }));
    const rows = people.map(({ id, role, name }) => [id, role, printable(name)]);
    return print(json, wire, table(["PERSON", "ROLE", "NAME"], rows), io);
  },
});

export const peopleRemove = command({
  takes: { ID: "", ...JSON_FLAG, ...STORE_FLAGS },
  example: "parley people remove 7",
  async run({ id: wanted, json, ...place }, io) {
    const { id, name, named } = await withStore(place, io, async (ctx, config) => {
      const person = (await listPeopleAndSessions(ctx)).find((one) => one.id === wanted);
      if (!person) throw new Refusal("person_not_found", { person: wanted });
      await removeHuman(ctx, Number(person.id), COMMAND_LINE);
      return { ...person, named: await namedInSettings(config, person) };
    });
    const places = [...named.refused, ...named.passedOver];
    if (json) print(json, { id, name, removed: true, named_in: places }, [], io);
    else io.tell(`${printable(name)} (${id}) can no longer be asked, sign in or answer.`);
    if (places.length > 0) io.tell(`The settings still name ${printable(name)}: ${printable(places.join(", "))}.`);
    if (named.refused.length > 0) {
      io.tell(`No server starts on them before this is changed: ${printable(named.refused.join(", "))}.`);
    }
    return EXIT.done;
  },
});

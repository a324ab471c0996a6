import { parseArgs } from "node:util";
import { signInAddress } from "../../access/model/sign-in-address.ts";
import { createSignInLink } from "../../access/create-sign-in-link.ts";
import { COMMAND_LINE, STORE_OPTIONS, withStore } from "../command-store.ts";
import { type Command, EXIT, STORE_FLAGS } from "../command.ts";

export const link: Command = {
  usage: "[--person ID] [--url URL]",
  flags: {
    "--person ID": "whom, by the number of parley people list; left out, whoever runs the server",
    "--url URL": "where the person reaches the server, else PARLEY_URL, else the public URL of the settings",
    ...STORE_FLAGS,
  },
  example: "parley link --person 1",
  async run(argv, io) {
    const { values } = parseArgs({
      args: [...argv],
      options: { ...STORE_OPTIONS, person: { type: "string" }, url: { type: "string" } },
    });
    const address = await withStore(values, io, async (ctx, config) => {
      const { code, person } = await createSignInLink(ctx, values.person, COMMAND_LINE);
      return signInAddress(values.url ?? (io.env["PARLEY_URL"] || config.publicUrl), person.role, code);
    });
    io.out(address);
    return EXIT.done;
  },
};

import { signInAddress } from "../../access/model/sign-in-address.ts";
import { createSignInLink } from "../../access/create-sign-in-link.ts";
import { WrongUsage } from "../arguments.ts";
import { COMMAND_LINE, withStore } from "../command-store.ts";
import { command, EXIT, STORE_FLAGS } from "../command.ts";

export const link = command({
  takes: {
    "--person ID": "whom, by the number of parley people list; left out, whoever runs the server",
    "--url URL": "where the person reaches the server, else PARLEY_URL, else the public URL of the settings",
    ...STORE_FLAGS,
  },
  example: "parley link --person 1",
  async run({ person: named, url, ...place }, io) {
    if (url !== undefined && !/^https?:\/\//.test(url)) throw new WrongUsage("--url must be an http or https address");
    const address = await withStore(
      place,
      io,
      async (ctx, config) => {
        const { code, person } = await createSignInLink(ctx, named, COMMAND_LINE);
        return signInAddress(url ?? (io.env["PARLEY_URL"] || config.publicUrl), person.role, code);
      },
      { mayBegin: true },
    );
    io.out(address);
    return EXIT.done;
  },
});

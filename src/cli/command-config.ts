import { type Config, type ConfigSources, loadConfig } from "../config/config.ts";
import type { Io, StorePlace } from "./command.ts";

/** Returns where the settings of a command come from: its flags, its environment and the settings file. */
export const sourcesOf = ({ dataDir, config }: StorePlace, { env }: Pick<Io, "env">): ConfigSources => ({
  flags: { "data-dir": dataDir },
  env,
  file: config,
});

export const configOf = (place: StorePlace, io: Pick<Io, "env">): Config => loadConfig(sourcesOf(place, io));

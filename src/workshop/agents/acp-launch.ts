import type { JsonObject } from "../../lib/json/json-body.ts";
import type { AgentOrder, Launch } from "./agent.ts";
import { writeHomeFile } from "./home-files.ts";
import { TOOL_TIMEOUT_MS } from "./parley-tools.ts";

/** The needs of one kind of ACP agent, besides its command. */
interface Flavour {
  /** Returns what is added to its environment; writes what it reads. */
  prepare(order: AgentOrder): Promise<Readonly<Record<string, string>>>;
  /** Whether its own settings name Parley's MCP server: named over ACP, it would be given up after ten minutes. */
  knowsParley: boolean;
  /** Whether it takes the answer that a file is missing for a failure, and could make no new one. */
  takesMissingAsEmpty?: boolean;
}

export const FLAVOURS: Readonly<Record<AgentOrder["settings"]["flavour"], Flavour>> = {
  gemini: {
    knowsParley: true,
    takesMissingAsEmpty: true,
    async prepare({ homeOutside, mcp }) {
      const headers = { Authorization: `Bearer ${mcp.token}` };
      const settings: JsonObject = {
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        // Gemini CLI knows which server a tool is of; the name of a tool can be the same for two servers.
        mcpServers: { parley: { httpUrl: mcp.url, headers, timeout: TOOL_TIMEOUT_MS, trust: true } },
      };
      await writeHomeFile(homeOutside, ".gemini/settings.json", JSON.stringify(settings));
      // Without it no MCP server is connected.
      return { GEMINI_CLI_TRUST_WORKSPACE: "true" };
    },
  },
  opencode: {
    knowsParley: false,
    prepare({ home }) {
      const config: JsonObject = {
        share: "disabled",
        autoupdate: false,
        permission: { edit: "ask", bash: "ask", webfetch: "ask" },
        experimental: { mcp_timeout: TOOL_TIMEOUT_MS },
      };
      return Promise.resolve({
        XDG_CONFIG_HOME: `${home}/.config`,
        XDG_DATA_HOME: `${home}/.local/share`,
        XDG_STATE_HOME: `${home}/.local/state`,
        XDG_CACHE_HOME: `${home}/.cache`,
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        // Read after the settings of a repository, and so stronger.
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
      });
    },
  },
  other: { knowsParley: false, prepare: () => Promise.resolve({}) },
};

/** Returns how an ACP agent is started. @throws {Error} when no command is configured */
export async function launchAcp(order: AgentOrder): Promise<Launch> {
  const [program, ...args] = order.settings.command;
  if (program === undefined) throw new Error(`agents.${order.settings.name}.command is missing`);
  const own = await FLAVOURS[order.settings.flavour].prepare(order);
  return { argv: [program, ...args], env: { ...order.env, ...own } };
}

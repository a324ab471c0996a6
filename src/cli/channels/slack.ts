import { WrongUsage } from "../arguments.ts";
import { command, EXIT } from "../command.ts";

/** The app's permissions (spec/channels 5.3). */
const SCOPES = [
  "app_mentions:read",
  "channels:history",
  "channels:read",
  "chat:write",
  "groups:history",
  "im:history",
  "im:read",
  "im:write",
  "users:read",
];
const EVENTS = ["app_mention", "message.channels", "message.groups", "message.im"];
const MOST_NAME = 35;

export const slackManifest = command({
  takes: {
    "--url URL": "where Slack reaches this server by https; left out, answers come in by Socket Mode",
    "--name NAME": { help: "what the app is called", default: "Parley" },
  },
  example: "parley slack manifest > manifest.json",
  async run({ name, url }, io) {
    if (name.trim() === "" || name.length > MOST_NAME) {
      throw new WrongUsage(`--name must be at most ${MOST_NAME} characters`);
    }
    const root = url?.replace(/(?<!\/)\/+$/, "");
    if (root !== undefined && !/^https:\/\/[^/\s]+$/.test(root)) {
      throw new WrongUsage("--url must be an https address without a path, because Slack calls no other");
    }
    io.out(JSON.stringify(manifestOf(name, root), null, 2));
    io.tell(
      root === undefined
        ? "Make the app at https://api.slack.com/apps from this manifest, then set slack.bot_token (xoxb-...) and slack.app_token (xapp-..., scope connections:write)."
        : "Make the app at https://api.slack.com/apps from this manifest, then set slack.bot_token (xoxb-...) and slack.signing_secret.",
    );
    return EXIT.done;
  },
});

function manifestOf(name: string, root: string | undefined): object {
  const at = (path: string) => (root === undefined ? {} : { request_url: `${root}/hooks/slack/${path}` });
  return {
    display_information: { name, description: "Brings what AI agents ask to people, and the answers back." },
    features: {
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: name, always_online: true },
    },
    oauth_config: { scopes: { bot: SCOPES } },
    settings: {
      event_subscriptions: { ...at("events"), bot_events: EVENTS },
      interactivity: { is_enabled: true, ...at("interactions") },
      org_deploy_enabled: false,
      socket_mode_enabled: root === undefined,
      token_rotation_enabled: false,
    },
  };
}

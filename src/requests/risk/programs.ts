/** A program that takes away: always, with one of these words in order, or with one of these options. */
export interface Destroying {
  kind?: "loses" | "forces" | "opens";
  words?: readonly string[];
  options?: RegExp;
}

const ALWAYS: Destroying = {};
const CLOUD: Destroying = {
  options:
    / (?:\S*-)?(?:delete|destroy|terminate|remove|purge|deregister|disable|rb|rm|put-bucket-policy|attach-\w+-policy|add-iam-policy-binding)(?:-\S*)? | --delete /,
};
/** A container with the rights or the whole disk of its machine. */
const OWNS_HOST = / --privileged | (?:-v|--volume)[ =]?\/:| --pid[= ]host /;
const IAC: Destroying = {
  words: [
    "destroy",
    "state rm",
    "apply -auto-approve",
    "apply --auto-approve",
    "force-unlock",
    "taint",
    "workspace delete",
  ],
  options: / -destroy /,
};

export const DESTROYING: Readonly<Record<string, Destroying>> = {
  ...Object.fromEntries(
    "mkfs mke2fs fdisk parted wipefs shutdown reboot halt poweroff killall pkill userdel groupdel dropdb dropuser crontab visudo passwd usermod useradd chpasswd iptables nft ufw mount umount insmod modprobe sysctl setenforce"
      .split(" ")
      .map((name) => [name, ALWAYS]),
  ),
  dd: { options: / of=\/dev\// },
  chmod: {
    kind: "forces",
    options: / -\w*R| --recursive | [0-7]?77[67] | [augo]*o?\+\w*w| [ago]*a\+w| \+s | [ug]\+s /,
  },
  chown: { kind: "forces", options: / -\w*R| --recursive / },
  chgrp: { kind: "forces", options: / -\w*R| --recursive / },
  setfacl: { kind: "forces", options: / -\w*R/ },
  kill: { options: / -1 | -- -/ },
  systemctl: { words: ["stop", "disable", "mask", "kill", "isolate"] },
  service: { words: ["stop"] },
  git: {
    kind: "forces",
    words: [
      "reset --hard",
      "clean",
      "stash drop",
      "stash clear",
      "filter-branch",
      "filter-repo",
      "reflog expire",
      "reflog delete",
      "branch -D",
      "tag -d",
      "tag --delete",
      "push -d",
      "push --delete",
      "push --mirror",
      "push --prune",
      "push -f",
      "push +*",
      "push :*",
      "update-ref -d",
      "worktree remove --force",
      "branch -M",
      "gc --prune=now",
      "checkout -f",
      "checkout .",
      "restore .",
    ],
    options: / --force(?:-with-lease\S*|-if-includes)? | --no-verify | --hard /,
  },
  gh: {
    words: [
      "repo delete",
      "repo archive",
      "release delete",
      "secret",
      "variable",
      "workflow disable",
      "issue delete",
      "cache delete",
      "ssh-key",
      "pr merge --admin",
      "repo edit",
      "auth token",
      "api -X",
      "api --method",
      "api -XDELETE",
    ],
  },
  terraform: IAC,
  tofu: IAC,
  terragrunt: IAC,
  pulumi: { words: ["destroy", "up --yes", "up -y", "stack rm", "state delete"] },
  cdk: { words: ["destroy"], options: / --require-approval never / },
  kubectl: {
    words: ["delete", "drain", "cordon", "replace --force", "rollout undo"],
    options: / --replicas[= ]0 | --force /,
  },
  oc: { words: ["delete", "drain", "adm"], options: / --replicas[= ]0 / },
  helm: { words: ["uninstall", "delete", "rollback"], options: / --force / },
  docker: {
    words: [
      "system prune",
      "volume rm",
      "volume prune",
      "image prune",
      "container prune",
      "network rm",
      "rm",
      "rmi -f",
      "swarm leave",
      "compose down -v",
      "compose down --volumes",
      "push",
    ],
    options: OWNS_HOST,
  },
  podman: { words: ["system prune", "volume rm", "rm"], options: OWNS_HOST },
  aws: CLOUD,
  gcloud: CLOUD,
  gsutil: CLOUD,
  az: CLOUD,
  doctl: CLOUD,
  flyctl: CLOUD,
  fly: CLOUD,
  heroku: CLOUD,
  vercel: { words: ["remove", "rm"] },
  s3cmd: CLOUD,
  rclone: { words: ["delete", "purge", "sync", "cleanup"] },
  rsync: { options: / --delete\S* | --remove-source-files / },
  npm: { words: ["publish", "unpublish", "deprecate", "owner", "access", "token", "dist-tag"], options: / --force / },
  pnpm: { words: ["publish", "unpublish"], options: / --force / },
  yarn: { words: ["publish", "npm publish"] },
  cargo: { words: ["publish", "yank"] },
  gem: { words: ["push", "yank"] },
  twine: { words: ["upload"] },
  uv: { words: ["publish"] },
  poetry: { words: ["publish"] },
  "redis-cli": { options: / (?:flushall|flushdb|del|unlink|shutdown|config) /i },
  mongosh: { options: /drop|delete|remove/i },
  prisma: { words: ["migrate reset", "db push --accept-data-loss", "migrate deploy"] },
  apt: { words: ["remove", "purge", "autoremove"] },
  "apt-get": { words: ["remove", "purge", "autoremove"] },
  brew: { words: ["uninstall"] },
  ip: { options: / del | flush / },
};

const GIT_READS =
  /^(?!.{0,2000} (?:--output|-o[= ]))(?:--no-pager )?(?:(?:status|log|diff|show|rev-parse|ls-files|ls-tree|blame|describe|shortlog|grep|cat-file|merge-base|rev-list|name-rev|count-objects|whatchanged|ls-remote|for-each-ref|show-ref|diff-tree|check-ignore)(?: |$)|branch$|branch (?:--show-current|--list|-a|-v|-vv|-r|--contains \S+)$|remote(?: -v)?$|tag(?: -l.*| --list.*)?$|stash list|reflog$|config --(?:get|list)|worktree list|submodule status)/;
/** Programs that only read: with any words (`undefined`), where their words fit, or never (`null`). */
export const READING: Readonly<Record<string, RegExp | undefined | null>> = {
  ...Object.fromEntries(
    (
      "ls cat head tail wc grep egrep fgrep zgrep rg ag tree stat file du df pwd date whoami id which type echo printf true false test [ jq uniq cut " +
      "tr column diff cmp md5sum sha1sum sha256sum basename dirname realpath readlink uname hostname ps less more man cd nl tac " +
      "rev fold paste join comm seq expr sleep od hexdump xxd strings nproc uptime free lsof ss netstat dig nslookup host ping " +
      "cloc tokei bat eza exa : exit return break continue set shift wait pushd popd dirs getopts let local awk gawk mawk"
    )
      .split(" ")
      .map((name) => [name, undefined]),
  ),
  sed: /^(?!.*(?:^| )-(?:\w*i|-in-place))/,
  sort: /^(?!.*(?:^| )(?:-\w*o|--output))/,
  find: /^(?!.*(?:^| )-(?:delete|exec|execdir|ok|okdir|fprint|fls))/,
  fd: /^(?!.*(?:^| )(?:-x|-X|--exec))/,
  yq: /^(?!.*(?:^| )(?:-i|--inplace))/,
  git: GIT_READS,
  gh: /^(?:pr|issue|run|repo|release|workflow|label|search|project|gist) (?:list|view|checks|status|diff|issues|prs|repos|code)\b|^status$/,
  docker:
    /^(?:ps|images|logs|inspect|version|info|stats|top|port|history)\b|^compose (?:ps|logs|config|ls|images)\b|^(?:image|container|volume|network) (?:ls|inspect)\b/,
  kubectl: /^(?:get|describe|logs|top|explain|version|api-resources|cluster-info)\b(?!.*secret)/,
  helm: /^(?:list|status|history|get|show|search|template|lint)\b/,
  terraform: /^(?:validate|fmt -check|version|providers|show|output|graph|state list)\b/,
  npm: /^(?:ls|list|view|info|outdated|audit$|explain|why|root|prefix|-v|pkg get)\b/,
  pnpm: /^(?:ls|list|outdated|why|audit$)\b/,
  yarn: /^(?:list|info|why|outdated)\b/,
  pip: /^(?:list|show|freeze|check)\b/,
  cargo: /^(?:tree|metadata|search|--version)\b/,
  go: /^(?:version|list|doc|vet)\b/,
  journalctl: /^(?!.*--(?:vacuum|rotate|flush|sync|relinquish|update|setup))/,
  systemctl: /^(?:status|list-\S+|is-\S+|show|cat)\b/,
};

/** Tasks whose name says that they reach beyond the working copy, or lose what it works on. */
const TASK =
  /^(?:[\w-]+:)*(?:deploy|destroy|wipe|drop|reset|purge|migrate|rollback|publish|teardown|flush|nuke)(?::[\w-]+)*$/;
const RUNS_TASKS = new Set(
  "npm pnpm yarn bun npx make just task rake rails bundle php composer python python3 uv poetry gradle mvn nx turbo".split(
    " ",
  ),
);

/** Returns whether a program runs such a task, which nobody can see into. */
export function runsTask(program: string, texts: readonly string[]): boolean {
  return RUNS_TASKS.has(program) && texts.some((text) => TASK.test(text));
}

const PLAIN_SCRIPT = /^(?!.*[;|&`$])/;
/** Programs that build, test and fetch within a working copy, where their words fit. */
export const KNOWN: ReadonlyMap<string, RegExp | null> = new Map<string, RegExp | null>([
  ...(
    "npm pnpm yarn bun deno node make cmake ninja just task cargo go rustc gcc g++ clang javac java mvn gradle dotnet swift pytest ruff mypy black " +
    "flake8 pylint isort tox nox uv poetry pip pip3 python python3 ruby bundle rake rspec php composer phpunit tsc eslint prettier vitest jest mocha " +
    "playwright biome oxlint vite webpack rollup esbuild turbo nx lerna git gh docker docker-compose podman kubectl helm terraform tofu mkdir touch cp " +
    "mv ln tar unzip zip gzip gunzip patch tee sed sort yq find fd chmod chown kill rm rmdir rsync shellcheck shfmt golangci-lint gofmt clippy " +
    "rustfmt swiftlint ktlint sqlfluff prisma bash sh zsh time timeout nohup nice env xargs sudo command stdbuf systemctl export unset read " +
    "open code pre-commit pyright sphinx-build mkdocs hugo jekyll createdb psql mysql sqlite3 apt apt-get brew aws gcloud az"
  )
    .split(" ")
    .map((name): [string, null] => [name, null]),
  [
    "git",
    /^(?:add|bisect (?!run)|branch|checkout|cherry-pick|clone|commit|diff|fetch|format-patch|init|log|merge|mv|notes|pull|push|rebase|reset|restore|revert|rm|show|stash|switch|tag|worktree|apply|archive|status|sparse-checkout|maintenance|gc|lfs|--version)(?: |$)(?!.*--output)/,
  ],
  ["npm", /^(?!pkg|set|config|exec|x |init|link|login|hook|run-script \S*;)/],
  [
    "npx",
    /^(?:--no-install |--yes |-y )?(?:eslint|prettier|tsc|vitest|jest|mocha|playwright|biome|oxlint|vite|webpack|rollup|esbuild|turbo|nx|tsx|ts-node|c8|nyc|knip|markdownlint|stylelint|cspell|prisma|drizzle-kit|depcheck|husky|lint-staged|astro|next|nuxt)(?: |$)/,
  ],
  [
    "curl",
    /^(?:-[sSfLkIv]+ |--(?:silent|fail|head|location|max-time \d+) )*https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/\S*)?$/,
  ],
  [
    "kubectl",
    /^(?!.*(?:^| )(?:exec|debug|attach|run|proxy|port-forward|cp|edit|create (?:cluster)?rolebinding)(?: |$))/,
  ],
  // Fields make a call of the API one that writes, and another machine is no working copy.
  ["gh", /^(?!api .*(?:^| )(?:-[fF]|--field|--raw-field|--input)\b)/],
  ["rsync", /^(?!.*(?:^| )[\w.@-]+:)/],
  ["bash", PLAIN_SCRIPT],
  ["aws", /^(?:\S+ )?(?:describe|list|get|ls)/],
  ["gcloud", /^(?:\S+ ){1,3}(?:list|describe)\b/],
  ["az", /^(?:\S+ ){1,3}(?:list|show)\b/],
  ["mv", null],
]);

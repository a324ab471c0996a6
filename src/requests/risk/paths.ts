import type { RiskFact } from "./reason.ts";
import { isProduction } from "./reason.ts";

/** Private keys and credentials, by the names that programs expect them under. */
const SECRET = [
  /(?:^|[/{,])id_(?:rsa|dsa|ecdsa|ed25519|\*)[^/.]*(?:$|[,}])/,
  /(?:^|[/{,])(?:\.ssh|\.gnupg|\.password-store)\/(?!config$|known_hosts|.*\.pub$)./,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfstate|ovpn|keytab)$/i,
  /(?:^|[/{,@])\.env(?:rc|\.(?!example|sample|template|dist)[^/]*)?(?:$|[,}])/,
  /(?:^|\/)(?:\.aws\/credentials|\.netrc|\.pgpass|\.pypirc|\.git-credentials|\.vault-token|\.docker\/config\.json|\.kube\/config|\.npmrc)$/,
  /(?:^|\/)(?:credentials|secrets?|service[-_]account[^/]*|client_secret[^/]*)(?:\.(?:json|ya?ml|toml|ini|txt|env))?$/i,
  /^\/etc\/(?:shadow|gshadow|sudoers)|\/proc\/[^/]+\/environ$|^\/run\/secrets\//,
];
/** Files that run something elsewhere or later, or that decide what runs. */
const GUARDED = [
  /(?:^|\/)(?:\.github\/(?:workflows|actions)\/|\.circleci\/|\.buildkite\/|\.gitlab-ci|\.drone\.ya?ml|\.travis\.yml|Jenkinsfile|azure-pipelines|bitbucket-pipelines|\.woodpecker|\.forgejo\/workflows\/|\.gitea\/workflows\/|cloudbuild\.ya?ml)/,
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|Gemfile\.lock|composer\.lock|go\.sum|flake\.lock|deno\.lock|\.terraform\.lock\.hcl|mix\.lock|pubspec\.lock|Podfile\.lock)$/,
  /(?:^|\/)(?:migrations?|migrate|alembic\/versions|flyway|liquibase)\//i,
  /(?:^|\/)(?:\.git|\.husky|\.githooks)\/|(?:^|\/)\.git(?:config|modules)$|(?:^|\/)CODEOWNERS$/,
  /(?:^|\/)\.(?:bashrc|bash_profile|bash_login|bash_aliases|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|login|cshrc|kshrc|xprofile|xinitrc|xsession|inputrc)$/,
  /(?:^|\/)(?:\.config\/(?:fish|autostart|systemd)|LaunchAgents|LaunchDaemons|cron[^/]*|authorized_keys|\.ssh)(?:\/|$)/,
  /(?:^|\/)(?:\.mcp\.json|\.claude\/|\.cursor\/|\.codex\/|\.gemini\/|\.vscode\/(?:tasks|settings)\.json|\.pre-commit-config\.yaml|\.envrc)/,
];
/** Made by a build inside of the working copy, and made again by the next one. */
const BUILT =
  /(?:^|\/)(?:node_modules|dist|build|out|target|coverage|\.cache|\.next|\.nuxt|\.turbo|\.parcel-cache|\.vite|\.svelte-kit|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|\.eggs|[^/]+\.egg-info|\.gradle|\.nyc_output|htmlcov|tmp|temp)(?:\/|$)/;

/** Returns why a file may not even be read without a thought; null for any other file. */
export function secretFile(path: string): RiskFact | null {
  return SECRET.some((pattern) => pattern.test(path)) ? { kind: "file", says: path } : null;
}

/** Returns why it is grave to write a file. The folder is the agent's; null if it is not known. */
export function writtenFile(path: string, folder: string | null): RiskFact | null {
  const place = placeOf(path, folder);
  const isGuarded = [...SECRET, ...GUARDED].some((pattern) => pattern.test(place.path));
  if (isGuarded) return { kind: "file", says: path };
  if (place.isOutside) return { kind: "place", says: path };
  return isProduction(place.path) ? { kind: "place", says: path } : null;
}

/** Returns why it is grave to delete a file or a folder; null for what a build made there. */
export function deletedFile(path: string, folder: string | null, isWhole: boolean): RiskFact | null {
  const place = placeOf(path, folder);
  const isInside = !place.isOutside && !place.path.startsWith("/") && place.path !== "" && place.path !== ".";
  const isTemporary = /^\/(?:tmp|var\/tmp)\/[^/*]/.test(path);
  if (isInside && BUILT.test(place.path) && !/[$`{}]/.test(path)) return null;
  if (isTemporary) return null;
  const isOne = isInside && !isWhole && !/^[*?]+$|[$`{}[\]~]/.test(path);
  return isOne && writtenFile(path, folder) === null ? null : { kind: "loses", says: path };
}

/** Returns a path within the agent's folder where it stands in it, and whether it is outside. */
export function placeOf(path: string, folder: string | null): { path: string; isOutside: boolean } {
  const isAbsolute = /^(?:[/\\~]|[A-Za-z]:[\\/]|\$\{?(?:HOME|USERPROFILE)\b)/.test(path);
  const written = path.replaceAll("\\", "/");
  const base = workingCopy(folder);
  const within = base !== null && (written === base || written.startsWith(`${base}/`));
  const parts = partsOf(within ? written.slice(base.length + 1) : written);
  const inner = parts.join("/");
  if (isAbsolute && !within) {
    const full = `/${inner}`;
    const isTemporary = /^\/(?:tmp|var\/tmp|dev\/null|dev\/std\w+|private\/tmp)(?:\/|$)/.test(full);
    // Without a folder only what belongs to the machine or to the home itself is surely outside.
    const isSurely = base !== null || /^\/(?:etc|usr|var|opt|bin|sbin|lib|boot|root|dev|sys|proc)\/|^\/[~$]/.test(full);
    return { path: full, isOutside: !isTemporary && isSurely };
  }
  return { path: inner, isOutside: parts[0] === ".." };
}

/** A folder of the machine, or a whole home, is no working copy: files in it are as those outside of one. */
const NO_WORKING_COPY =
  /^(?:\/(?:(?:etc|dev|sys|proc|boot|bin|sbin|lib)(?:\/.*)?|usr|usr\/(?:bin|sbin|lib|local|share)(?:\/.*)?|var|opt|srv|mnt|root|(?:home|Users)(?:\/[^/]+)?)?|[A-Za-z]:|[A-Za-z]:\/(?:Users(?:\/[^/]+)?|Windows(?:\/.*)?))$/;

function workingCopy(folder: string | null): string | null {
  if (folder === null) return null;
  const written = folder.replaceAll("\\", "/");
  const path = `${written.startsWith("/") ? "/" : ""}${partsOf(written).join("/")}`;
  return NO_WORKING_COPY.test(path) || path === "" ? null : path;
}

function partsOf(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return parts;
}

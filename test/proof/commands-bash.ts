import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAMS, STARTERS } from "./commands-grammar.ts";

/** The truth about one line, as bash has it. */
export interface Ran {
  /** `bash -n` takes it. */
  isValid: boolean;
  /** Each program that was run, with its words, in no order. */
  commands: readonly (readonly string[])[];
  /** A file was made or filled. */
  wroteFile: boolean;
  /** It was ended before its end; its programs until then are known. */
  isLate: boolean;
}

const [LINE, FIELD, WORD, BREAK] = ["\u001c", "\u001d", "\u001e", "\u001f"] as const;
const FILES = "x1 x2";
const MOST_SECONDS = 2;

/** A program tells its words in one write, which no other one can split. */
const stub = (code: number): string => `#!/bin/sh\nprintf '%s\\036' "$#" "\${0##*/}" "$@" >&9\nexit ${code}\n`;

/**
 * Builtins that would act become stubs; a program that is not there is told as well. Bash writes line by line, so that a
 * line break within a word would split the write.
 */
const ENVIRONMENT = `enable -n cd pushd popd kill ulimit umask suspend echo true false test [
command_not_found_handle() { printf '%s\\036' "$(($# - 1))" "\${@//$'\\n'/$'\\037'}" >&9; return 127; }
`;

/** Each line runs with the stubs alone on its path. It is over when nothing holds descriptor 9 any more. */
const DRIVER = `
shopt -s nullglob dotglob
for line; do
  "$BASH" --norc --noprofile -n -c -- "$line" 2>/dev/null; valid=$?
  ran=$(BASH_ENV=$TOLD exec "$LIMIT" -s KILL ${MOST_SECONDS} "$BASH" --norc --noprofile -c -- "$line" 9>&1 >/dev/null 2>&1 </dev/null)
  late=$?; wrote=0; files=(*)
  if [[ \${files[*]} != '${FILES}' || -s x1 || -s x2 ]]; then
    wrote=1; "$REMOVE" -rf -- "\${files[@]}"; : >x1; : >x2
  fi
  printf '%s\\035%s\\035%s\\035%s\\034' "$valid" "$late" "$wrote" "$ran"
done`;

/** Bash, in a folder of stubs, and in bubblewrap where the system has it. */
export class BashSandbox implements Disposable {
  readonly isBubblewrap = has("bwrap");
  readonly #folder = mkdtempSync(join(tmpdir(), "parley-commands-"));
  readonly #bash = pathOf("bash");

  constructor() {
    const [stubs, work] = [join(this.#folder, "stubs"), join(this.#folder, "work")];
    mkdirSync(stubs);
    mkdirSync(work);
    for (const name of FILES.split(" ")) writeFileSync(join(work, name), "");
    for (const name of [...PROGRAMS, "false", "cd", "kill"]) {
      writeFileSync(join(stubs, name), stub(name === "no" || name === "false" ? 1 : 0));
      chmodSync(join(stubs, name), 0o755);
    }
    for (const name of STARTERS) symlinkSync(pathOf(name), join(stubs, name));
    writeFileSync(join(this.#folder, "told.sh"), ENVIRONMENT);
  }

  /** Runs lines one after the other, each from the same start. */
  run(lines: readonly string[]): Ran[] {
    const work = join(this.#folder, "work");
    const bash = [this.#bash, "--norc", "--noprofile", "-c", DRIVER, "bash", ...lines];
    const inside = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--ro-bind", this.#folder, this.#folder];
    const apart = [...inside, "--bind", work, work, "--chdir", work, "--unshare-all", "--die-with-parent", "--"];
    const limited = ["-c", 'ulimit -f 1000 -c 0; exec "$@"', "sh", ...bash];
    const [file, words] = this.isBubblewrap ? [pathOf("bwrap"), [...apart, ...bash]] : ["/bin/sh", limited];
    const output = execFileSync(file, words, {
      cwd: work,
      encoding: "utf8",
      env: {
        PATH: join(this.#folder, "stubs"),
        HOME: work,
        LC_ALL: "C.UTF-8",
        BASH: this.#bash,
        LIMIT: pathOf("timeout"),
        REMOVE: pathOf("rm"),
        TOLD: join(this.#folder, "told.sh"),
      },
      maxBuffer: 64 << 20,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return output.split(LINE).slice(0, -1).map(ranOf);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function ranOf(text: string): Ran {
  const [valid, late, wrote, ran = ""] = text.split(FIELD);
  const words = ran.replaceAll(BREAK, "\n").split(WORD).slice(0, -1);
  const commands: string[][] = [];
  for (let at = 0; at < words.length;) {
    const end = at + 2 + Number(words[at]);
    commands.push(words.slice(at + 1, end));
    at = end;
  }
  return { isValid: valid === "0", isLate: late === "137", wroteFile: wrote === "1", commands };
}

function pathOf(name: string): string {
  return execFileSync("/bin/sh", ["-c", 'command -v -- "$1"', "sh", name], { encoding: "utf8" }).trim();
}

function has(name: string): boolean {
  try {
    execFileSync(pathOf(name), ["--ro-bind", "/", "/", "--unshare-all", "/bin/sh", "-c", ":"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

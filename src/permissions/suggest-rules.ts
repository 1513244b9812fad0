/** Rules that a person could grant instead of being asked again. Each of them alone allows the call. */
import { basename, dirname, resolve } from "node:path";
import { findRiskyWord } from "./command-risks.ts";
import { parseCommandRule } from "./command-rule.ts";
import { isHarmlessVariable, variableOf } from "./environment-names.ts";
import { subjectOf } from "./judge-tool.ts";
import { expandHome, wayInside } from "./locate-path.ts";
import { judgeReading } from "./read-only-command.ts";
import { shells } from "./shell-wrappers.ts";
import { takeApart } from "./take-apart.ts";
import { fileToolOf } from "./tool-kinds.ts";

export interface Asked {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly root: string;
  readonly current: string;
  readonly homeFolder: string;
  /** The path or the command that decided. */
  readonly part: string | undefined;
}

export function suggestRules(asked: Asked): string[] {
  const { toolName } = asked;
  if (toolName === "Bash") return suggestCommands(asked);
  const fileTool = fileToolOf(toolName);
  if (fileTool !== undefined) return suggestPaths(asked, fileTool.access === "read" ? "Read" : "Edit");
  const subject = subjectOf(asked);
  if (toolName === "WebFetch")
    return subject === undefined ? [] : [`WebFetch(domain:${subject})`, "WebFetch"];
  if ((toolName === "Agent" || toolName === "Skill") && subject !== undefined)
    return [`${toolName}(${subject})`];
  const server = /^(mcp__(?:(?!__).)+)__/.exec(toolName)?.[1];
  return server === undefined ? [toolName] : [toolName, server];
}

/** Programs whose next word says what they do. */
const withSubcommands = new Set(
  `git npm pnpm yarn bun npx deno cargo go docker podman kubectl helm gh glab pip pip3 uv poetry dotnet mvn gradle
  make just terraform brew apt apt-get systemctl bundle rake composer php artisan`.split(/\s+/),
);

/** To allow all that these do is to allow everything. */
const tooWide = new Set([
  ...shells,
  ..."rm sudo doas python python3 node perl ruby php env xargs find dd chmod chown mv curl wget ssh scp rsync kill pkill eval".split(
    " ",
  ),
]);

function suggestCommands(asked: Asked): string[] {
  const { input, current, homeFolder } = asked;
  const { command } = input;
  if (typeof command !== "string") return [];
  const parts = takeApart(command, { folder: current, homeFolder });
  if (parts.unknown.length > 0 || parts.commands.some((part) => part.hidden !== undefined)) return [];
  const exact = command.trim();
  const suggestions = isUsable(exact) ? [`Bash(${exact})`] : [];
  const [file] = parts.files;
  // Commands are judged before redirects: all but the file was allowed.
  if (
    parts.files.length === 1 &&
    file?.access === "write" &&
    asked.part !== undefined &&
    file.word?.text === asked.part
  )
    return [...suggestPaths(asked, "Edit").slice(0, 2), ...suggestions];
  const [only] = parts.commands;
  if (parts.commands.length !== 1 || only === undefined || parts.files.length > 0) return suggestions;
  let target = only;
  while (target.transparent && target.carried.length === 1 && target.carried[0] !== undefined)
    target = target.carried[0].part;
  const isPlain =
    target.carried.length === 0 && findRiskyWord(target.program ?? "", target.words) === undefined;
  const variables = [...only.assignments, ...target.assignments].map(variableOf);
  if (!isPlain || !variables.every(isHarmlessVariable)) return suggestions;
  // What only reads was asked for because of where it reads; to allow all of it would be too much.
  const [name, ...args] = target.words;
  if (judgeReading({ name, args, assignments: [], redirects: [] }, () => false) === undefined)
    return suggestions;
  const words = prefixOf(target.words.map((word) => (word.kind === "literal" ? word.text : undefined)));
  return words === undefined ? suggestions : [...suggestions, `Bash(${words.join(" ")}:*)`];
}

/** A text that would be read as a pattern, or not at all, must not be granted. */
function isUsable(command: string): boolean {
  const rule = parseCommandRule(command);
  return (
    typeof rule !== "string" && (rule.kind === "exact" || rule.kind === "script") && command.length <= 500
  );
}

function prefixOf(words: readonly (string | undefined)[]): string[] | undefined {
  const [name, second, third] = words;
  const plain = (word: string | undefined): word is string =>
    word !== undefined && /^[\w][\w:./@-]*$/.test(word);
  if (!plain(name) || tooWide.has(basename(name))) return undefined;
  if (!withSubcommands.has(name)) return [name];
  if (!plain(second)) return undefined;
  const runsScript = second === "run" || second === "exec";
  if (!runsScript) return [name, second];
  return plain(third) ? [name, second, third] : undefined;
}

function suggestPaths({ toolName, part, root, current, homeFolder }: Asked, tool: "Read" | "Edit"): string[] {
  if (part === undefined || /[*?[\]{}()\\\0]/.test(part)) return [];
  const path = resolve(current, expandHome(part, homeFolder));
  const ruleFor = (target: string) => {
    const inRoot = wayInside(root, target);
    if (inRoot !== undefined) return inRoot === "" ? "./**" : `./${inRoot}`;
    const atHome = wayInside(homeFolder, target);
    return atHome === undefined || atHome === "" ? `/${target}` : `~/${atHome}`;
  };
  const folder = dirname(path);
  const wide =
    folder === "/" || folder === homeFolder ? [] : [`${tool}(${ruleFor(folder).replace(/\/\*\*$/, "")}/**)`];
  return [`${tool}(${ruleFor(path)})`, ...wide, tool === "Read" ? toolName : tool];
}

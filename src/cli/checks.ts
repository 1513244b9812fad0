import { join } from "node:path";
import { messageOf, systemCodeOf } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import { loadSettings } from "../config/settings.ts";
import { userSettingsPath } from "../config/settings-sources.ts";
import type { Settings } from "../contracts/settings.ts";
import { chooseModel } from "../model/select-model.ts";

export interface Finding {
  readonly name: string;
  /** `info`: optional and not there. `warn`: works, but not fully. `fail`: something that is needed is missing. */
  readonly state: "ok" | "info" | "warn" | "fail";
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

interface CheckOptions {
  readonly world: World;
  readonly nodeVersion: string;
  readonly cwd: string;
  readonly modelFlag?: string;
  readonly settingsFlag?: string;
}

export async function checkMachine(options: CheckOptions): Promise<Finding[]> {
  const settings = await checkSettings(options);
  const others = await Promise.all([
    checkHome(options.world),
    checkSpace(options.world),
    checkProject(options),
    checkSearch(options),
    ...programs.map((program) => checkProgram(options, program)),
    checkSandbox(options),
  ]);
  return [
    checkNode(options.nodeVersion),
    ...settings.findings,
    checkModel(options, settings.settings),
    ...others,
  ];
}

function checkNode(nodeVersion: string): Finding {
  const [major = 0, minor = 0] = nodeVersion.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return { name: "node", state: "ok", message: nodeVersion };
  return {
    name: "node",
    state: "fail",
    message: `${nodeVersion} is too old`,
    advice: "Install Node 20.19 or newer.",
  };
}

async function checkSettings(options: CheckOptions): Promise<{ settings: Settings; findings: Finding[] }> {
  const name = "settings";
  try {
    const loaded = await loadSettings({ world: options.world, cwd: options.cwd, flag: options.settingsFlag });
    const files = loaded.sources.map((source) => source.label).join(", ");
    const path = userSettingsPath(options.world.homeFolder);
    return {
      settings: loaded.settings,
      findings: [
        { name, state: "ok", message: files === "" ? `none (${path} does not exist)` : files },
        ...loaded.warnings.map((message): Finding => ({ name, state: "warn", message })),
      ],
    };
  } catch (error) {
    const finding: Finding = {
      name,
      state: "fail",
      message: messageOf(error),
      advice: "Correct the file; nothing runs before.",
    };
    return { settings: {}, findings: [finding] };
  }
}

/** Says which model would answer and why. Names the variable of a key, never its value. */
function checkModel({ world, modelFlag }: CheckOptions, settings: Settings): Finding {
  const name = "model";
  const selection = chooseModel({
    ...(modelFlag !== undefined && { flag: modelFlag }),
    ...(settings.model !== undefined && { setting: settings.model }),
    ...(settings.models !== undefined && { aliases: settings.models }),
    ...(settings.providers !== undefined && { providers: settings.providers }),
    env: world.env,
  });
  if ("problem" in selection) return { name, state: "fail", message: selection.problem.message };
  const { choice } = selection;
  const wish =
    modelFlag !== undefined ? "--model" : settings.model !== undefined ? "the settings" : undefined;
  if (!("type" in choice)) {
    if (wish !== undefined) return { name, state: "ok", message: `offline, chosen by ${wish}` };
    return {
      name,
      state: "warn",
      message: "offline (rule-based), because there is no key",
      advice: "Export ANTHROPIC_API_KEY or OPENAI_API_KEY for a real one.",
    };
  }
  const address = choice.baseUrl === undefined ? "" : ` at ${addressOf(choice.baseUrl, choice.addressName)}`;
  const why = wish === undefined ? "the default" : `chosen by ${wish}`;
  return {
    name,
    state: "ok",
    message: `${choice.id}${address}, ${why}; ${choice.credential ? `key from ${choice.credential.variable}` : "no key"}`,
  };
}

/** A base URL may carry a password. */
function addressOf(baseUrl: string, name: string): string {
  try {
    const url = new URL(baseUrl);
    return url.origin + url.pathname.replace(/\/$/, "");
  } catch {
    return `an address that is not a URL (check ${name})`;
  }
}

async function checkHome(world: World): Promise<Finding> {
  const name = "home";
  const folder = join(world.homeFolder, ".cadre");
  const existing = await firstExisting(world, [folder, world.homeFolder]);
  if (existing === undefined)
    return {
      name,
      state: "fail",
      message: `the home folder ${world.homeFolder} does not exist`,
      advice: "Set HOME, or use --no-session-persistence.",
    };
  const probe = join(existing, `.cadre-doctor-${world.random.uuid()}`);
  try {
    await world.files.writeFile(probe, "", { mode: 0o600, exclusive: true });
    await world.files.remove(probe, { force: true });
    return { name, state: "ok", message: `${folder} is writable` };
  } catch (error) {
    const why = systemCodeOf(error) === "ENOSPC" ? "the disk is full" : messageOf(error);
    return {
      name,
      state: "fail",
      message: `${existing} cannot be written: ${why}`,
      advice: "Make it writable, or use --no-session-persistence: sessions are then not kept.",
    };
  }
}

async function firstExisting(world: World, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    try {
      await world.files.stat(path);
      return path;
    } catch {
      // The next one is looked at.
    }
  }
  return undefined;
}

const littleSpaceMb = 500;

async function checkSpace(world: World): Promise<Finding> {
  const name = "disk";
  const existing = (await firstExisting(world, [world.homeFolder])) ?? "/";
  const output = await run({ world, command: "df", args: ["-Pk", "--", existing], cwd: existing });
  const freeKb = Number(output?.trim().split("\n").at(-1)?.split(/\s+/)[3]);
  if (!Number.isFinite(freeKb)) return { name, state: "ok", message: "free space not known" };
  const freeMb = Math.floor(freeKb / 1024);
  if (freeMb >= littleSpaceMb) return { name, state: "ok", message: `${spaceOf(freeMb)} free` };
  return {
    name,
    state: "warn",
    message: `only ${freeMb} MB free`,
    advice: "Make room: transcripts need space.",
  };
}

function spaceOf(megabytes: number): string {
  return megabytes < 10_000 ? `${megabytes} MB` : `${Math.floor(megabytes / 1024)} GB`;
}

async function checkProject({ world, cwd }: CheckOptions): Promise<Finding> {
  const name = "project";
  try {
    await world.files.readFolder(cwd);
  } catch (error) {
    return { name, state: "fail", message: `${cwd} cannot be read: ${messageOf(error)}` };
  }
  const root = await run({ world, command: "git", args: ["rev-parse", "--show-toplevel"], cwd });
  return root === undefined
    ? { name, state: "ok", message: `${cwd} (no git repository)` }
    : {
        name,
        state: "ok",
        message: `${cwd}${root.trim() === cwd ? " (a git repository)" : `, in the git repository ${root.trim()}`}`,
      };
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly missing: string;
}

const programs: readonly Program[] = [
  { command: "git", args: ["--version"], missing: "Install git: changes cannot be reviewed without it." },
  { command: "tmux", args: ["-V"], missing: "Optional: for teammates in panes of their own." },
];

async function checkProgram({ world, cwd }: CheckOptions, program: Program): Promise<Finding> {
  const output = await run({ world, command: program.command, args: program.args, cwd });
  const name = program.command;
  if (output !== undefined) return { name, state: "ok", message: output.split("\n")[0]?.trim() || "found" };
  const optional = program.missing.startsWith("Optional");
  return { name, state: optional ? "info" : "warn", message: "not found", advice: program.missing };
}

/** The program that Grep and Glob use; without one they read every file themselves. */
async function checkSearch({ world, cwd }: CheckOptions): Promise<Finding> {
  const name = "search";
  const bundled = await import("@vscode/ripgrep").then(
    ({ rgPath }) => rgPath,
    () => undefined,
  );
  for (const command of [bundled, "rg"]) {
    if (command === undefined) continue;
    const output = await run({ world, command, args: ["--version"], cwd });
    const where = command === "rg" ? "found on the PATH" : "came with Cadre";
    if (output !== undefined)
      return { name, state: "ok", message: `${output.split("\n")[0]?.trim()}, ${where}` };
  }
  return {
    name,
    state: "warn",
    message: "no ripgrep that runs here",
    advice: "Install ripgrep (rg): Grep and Glob work without it, but slowly.",
  };
}

/** That the program is there does not mean that the system lets it make a sandbox. */
async function checkSandbox({ world, cwd }: CheckOptions): Promise<Finding> {
  const name = "sandbox";
  const version = await run({ world, command: "bwrap", args: ["--version"], cwd });
  if (version === undefined)
    return { name, state: "info", message: "bwrap not found", advice: "Optional: install bubblewrap." };
  const works = await run({ world, command: "bwrap", args: ["--ro-bind", "/", "/", "true"], cwd });
  if (works !== undefined) return { name, state: "ok", message: version.trim() };
  return {
    name,
    state: "info",
    message: `${version.trim()} is there, but may not make a sandbox here`,
    advice: "Optional: allow user namespaces without privileges.",
  };
}

/** What a program printed, or undefined if it is missing or failed. */
async function run(options: {
  world: World;
  command: string;
  args: readonly string[];
  cwd: string;
}): Promise<string | undefined> {
  const { world, command, args, cwd } = options;
  // Only what finding and running a program takes: no keys.
  const { PATH, HOME, LANG } = world.env;
  const child = world.processes.spawn(command, args, { cwd, env: { PATH, HOME, LANG } });
  const timer = world.clock.setTimer(5_000, () => child.kill("SIGKILL"), { unref: true });
  try {
    const [text, exit] = await Promise.all([textFrom(child.stdout), child.exited]);
    return exit.code === 0 ? text : undefined;
  } catch {
    return undefined;
  } finally {
    timer.cancel();
  }
}

async function textFrom(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

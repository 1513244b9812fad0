/** `cadre tasks`: what sessions have started beside their turns, and how to look at it and stop it from outside. */
import { resolve } from "node:path";
import { createNodeWorld } from "../../base/world/node-world.ts";
import type { World } from "../../base/world.ts";
import { UsageError } from "../arguments.ts";
import type { CommandIo } from "../command-io.ts";
import { nearest } from "../nearest.ts";
import type { TasksValues } from "../options.ts";
import { currentFolder } from "../run-request.ts";
import type { TasksRequest } from "./tasks-request.ts";

const actions = ["list", "show", "output", "stop"] as const;
type Action = (typeof actions)[number];

export async function runTasks(options: {
  values: TasksValues;
  positionals: readonly string[];
  io: CommandIo;
  /** The process's own, unless a test has others. */
  world?: World;
  columns?: number;
}): Promise<number> {
  const { values, io } = options;
  const { action, ids } = readAction(options.positionals, values);
  assertFits(action, values);
  const cwd = resolve(currentFolder(), values.cwd ?? "");
  const world = options.world ?? createNodeWorld();
  const request: TasksRequest = {
    world,
    io,
    values,
    where: {
      world,
      cwd,
      all: values.all,
      ...(values.session !== undefined && { sessionId: values.session }),
    },
    columns: options.columns ?? (io.stdout.isTerminal ? process.stdout.columns : undefined),
  };
  const [id = ""] = ids;
  switch (action) {
    case "list": {
      const { listTasks } = await import("./tasks-list.ts");
      return await listTasks(request);
    }
    case "show": {
      const { showTask } = await import("./tasks-show.ts");
      return await showTask(request, id);
    }
    case "output": {
      const { printOutput } = await import("./tasks-output.ts");
      return await printOutput(request, id);
    }
    case "stop": {
      const { stopAll, stopTasks } = await import("./tasks-stop.ts");
      return ids.length === 0 ? await stopAll(request) : await stopTasks(request, ids);
    }
  }
}

function readAction(
  positionals: readonly string[],
  values: TasksValues,
): { action: Action; ids: readonly string[] } {
  const [word = "list", ...ids] = positionals;
  const action = actions.find((each) => each === word);
  if (action === undefined) {
    const close = nearest(word, actions);
    const hint =
      close === undefined ? `; to see a task: cadre tasks show ${word}` : ` (did you mean ${close}?)`;
    throw new UsageError(`tasks can not "${word}", only ${actions.join(", ")}${hint}`);
  }
  const most = action === "list" ? 0 : action === "stop" ? Number.POSITIVE_INFINITY : 1;
  if (ids.length > most) throw new UsageError(`tasks ${action} takes no argument "${ids[most]}"`);
  const isWhole = action === "stop" && values.session !== undefined;
  if (action !== "list" && ids.length === 0 && !isWhole)
    throw new UsageError(`tasks ${action} needs the id of a task; cadre tasks lists them`);
  return { action, ids };
}

/** An option that would be ignored is a misunderstanding. */
function assertFits(action: Action, values: TasksValues): void {
  if (action !== "output" && values.follow)
    throw new UsageError(`--follow is for cadre tasks output, not for ${action}`);
  if (action === "output" && values.json) throw new UsageError("--json is not for cadre tasks output");
  if (action !== "list" && (values.running || values.limit !== undefined))
    throw new UsageError(
      `--${values.running ? "running" : "limit"} is for the list of cadre tasks, not for ${action}`,
    );
  if (values.session !== undefined && values.all)
    throw new UsageError("--session and --all exclude each other");
}

/** A process of its own that runs shell commands as an agent does, and then does what it reads: `exit`, or nothing. */
import { createInterface } from "node:readline";
import { createScope } from "../../src/base/cancellation.ts";
import { createBackgroundTasks } from "../../src/tasks/background.ts";
import { createQueue } from "../../src/tasks/queue.ts";
import { createTaskRegistry } from "../../src/tasks/registry.ts";
import { createToolScene } from "../../src/testing/tool-scene.ts";
import { createBashTool } from "../../src/toolbox/bash.ts";

interface Wanted {
  readonly cwd: string;
  readonly background: readonly string[];
  readonly foreground: readonly string[];
}

const { cwd, background: inBackground, foreground } = JSON.parse(process.argv[2] ?? "") as Wanted;
const scene = await createToolScene();
const tasks = createTaskRegistry({ clock: scene.world.clock });
const background = createBackgroundTasks({
  world: scene.world,
  folder: `${cwd}/tasks`,
  tasks,
  queue: createQueue({ record: async () => {} }),
  record() {},
  durable: async () => {},
  receiver: () => undefined,
  onProblem: (message) => console.error(message),
});
const bash = createBashTool({ background: { tasks, background, remind() {} }, onProblem: console.error });
const agent = { ...scene.agent, folder: { root: cwd, roots: [cwd], current: cwd } };

for (const command of inBackground)
  await scene.run(bash, { command, run_in_background: true }, { ...scene.context, agent });
for (const command of foreground)
  void scene.run(bash, { command }, { ...scene.context, agent, scope: createScope() });
createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "exit") process.exit(0);
});
await scene.dispose();
console.log("started");

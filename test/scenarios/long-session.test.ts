/** A session that is far longer than what fits before its model (LO-6). */
import { expect, it } from "vitest";
import type { ModelRequest } from "../../src/model/model.ts";
import {
  type Answering,
  createConversingModel,
  expectSound,
  firstText,
  run,
  useCompactionScene,
} from "./compaction-scene.ts";

const scene = useCompactionScene();
const turns = 2_000;
const turnsPerRun = 10;
const facts = ["harbour=741", "tower=green", "captain=Ines"];
const settings = { permissions: { allow: ["Bash(sleep:*)"] } };

/** What it knows stands before it: in what was said, or in what it wrote itself into a summary. */
function factsIn({ messages }: ModelRequest): string {
  const said = messages.flatMap(({ content }) =>
    content.map((block) => (block.type === "text" ? block.text : "")),
  );
  return [...new Set(said.join("\n").match(/\bFACT \w+=\w+/g) ?? [])].join("\n");
}

const answer: Answering = ({ request, last, results, isSummary }) => {
  if (isSummary) return `## Facts\n${factsIn(request)}`;
  if (results === 0 && last.startsWith("watch"))
    return { calls: [{ name: "Bash", input: { command: "sleep 900", run_in_background: true } }] };
  const round =
    /^read (\d+)$/.exec(last)?.[1] ?? /\(round (\d+)\)/.exec(JSON.stringify(request.messages.at(-2)))?.[1];
  const left = Number(round ?? 1) - 1;
  if (last === "recall" || left <= 0) return factsIn(request);
  const file_path = `notes-${left % 7}.txt`;
  return { text: `(round ${left})`, calls: [{ name: "Read", input: { file_path } }] };
};

it(`runs through ${turns} turns in a window of 50,000 tokens, knows what it was told, and keeps its tasks`, async () => {
  const { workspace } = scene;
  for (let index = 0; index < 7; index++)
    await workspace.write(`notes-${index}.txt`, `${`line of file ${index} `.repeat(10)}\n`.repeat(25));
  const model = createConversingModel(answer, { contextWindow: 50_000 });
  const session = scene.open(model, { settings });
  await run(session, `Remember: ${facts.map((fact) => `FACT ${fact}`).join(", ")}`);
  await run(session, "watch");
  const [task] = session.tasks.list();
  const knowsAll = (text: string) => facts.every((fact) => text.includes(fact));
  let compactions = 0;

  for (let done = 0; done < turns; done += turnsPerRun) {
    const ran = await run(session, `read ${turnsPerRun}`);
    expect(ran.end).toMatchObject({ reason: "completed" });
    expect(knowsAll(ran.text)).toBe(true);
    if (ran.compactions === 0) continue;
    compactions += ran.compactions;
    expect(firstText(session.messages)).toContain(
      `${task?.id}, command: sleep 900; output in ${task?.outputFile}`,
    );
    expect(session.tasks.get(task?.id ?? "")?.status).toBe("running");
    expect(knowsAll((await run(session, "recall")).text)).toBe(true);
  }
  // Each turn brings about 1,250 tokens; a compaction makes room for some 25,000.
  expect(compactions).toBeGreaterThan(turns / 40);
  expect(compactions).toBeLessThan(turns / 10);
  expectSound(model.requests);

  const again = createConversingModel(answer, { contextWindow: 50_000 });
  const resumed = await scene.reopen(session, again, { settings });
  expect(resumed.messages.length).toBeLessThan(100);
  expect(knowsAll((await run(resumed, "recall")).text)).toBe(true);
  expect((await run(resumed, `read ${turnsPerRun * 5}`)).compactions).toBeGreaterThan(0);
  expect(knowsAll((await run(resumed, "recall")).text)).toBe(true);
  expectSound(again.requests);
}, 120_000);

/** Sends an agent into each top folder, all side by side, and joins what they report into the lines of a map. */
import { type AgentAnswer, askAgents } from "./agent-calls.ts";
import { countOf } from "./folder-contents.ts";
import { describeFolders, type FolderLine, folderLimit, innerNames } from "./folder-lines.ts";
import { type FolderReport, folderTask, readReport } from "./folder-report.ts";
import { foldersAmong } from "./list-files.ts";
import type { Asking } from "./playbook.ts";
import type { FolderSurvey, Survey } from "./survey.ts";

export interface ToldFolders {
  readonly lines: readonly FolderLine[];
  /** Who looked: a line for the reader. */
  readonly note: string | undefined;
}

const agentLimit = 12;

/** What no agent reports is looked at here, as if there were no agents. `packages`: folders that are told elsewhere. */
export function* exploreFolders(survey: Survey, packages: ReadonlySet<string>): Asking<ToldFolders> {
  const sent = foldersForAgents(survey.folders);
  const answers = yield* askAgents(
    sent.map(({ folder, prompt }) => ({
      description: `Explore the ${folder.name} folder`,
      prompt,
      agentType: "Explore",
    })),
    `I send ${sent.length === 1 ? "an Explore agent into the top folder" : `${sent.length} Explore agents into the top folders, side by side`}.`,
  );
  const told = new Map<string, readonly FolderLine[]>();
  const failures = new Map<string, string>();
  for (const [index, { folder }] of sent.entries()) {
    const report = reportIn(answers[index]);
    if (typeof report === "string") failures.set(folder.name, report);
    else told.set(folder.name, linesOf(folder, { report, packages }));
  }
  const own = survey.folders.filter(({ name }) => !told.has(name)).slice(0, folderLimit - told.size);
  const described = own.length === 0 ? [] : yield* describeFolders({ ...survey, folders: own }, packages);
  for (const [name, lines] of byFolder(described)) told.set(name, lines);
  return {
    lines: survey.folders.flatMap(({ name }) => told.get(name) ?? []),
    note: noteOn(sent.length, failures),
  };
}

interface Sent {
  readonly folder: FolderSurvey;
  readonly prompt: string;
}

/** The largest, in the order of their names; what others wrote or tools made goes last. */
function foldersForAgents(folders: readonly FolderSurvey[]): Sent[] {
  const isForeign = ({ name }: FolderSurvey) =>
    /^(?:\..*|node_modules|vendor|third[_-]party|external|deps|dist|build|out|target)$/i.test(name);
  const chosen = new Set(
    folders
      .filter((folder) => folderTask(folder.name) !== undefined)
      .sort((a, b) => Number(isForeign(a)) - Number(isForeign(b)) || b.total - a.total)
      .slice(0, agentLimit),
  );
  return folders.flatMap((folder) => {
    const prompt = chosen.has(folder) ? folderTask(folder.name) : undefined;
    return prompt === undefined ? [] : [{ folder, prompt }];
  });
}

/** A text instead: why there is none. */
function reportIn(answer: AgentAnswer | undefined): FolderReport | string {
  if (answer === undefined) return "no answer came";
  if (answer.kind === "started") return "it runs on in the background";
  if (answer.kind === "failed") return answer.problem;
  return readReport(answer.text) ?? "its answer was not in the form that I asked for";
}

const shownFacts = 3;

function linesOf(
  folder: FolderSurvey,
  told: { report: FolderReport; packages: ReadonlySet<string> },
): FolderLine[] {
  const { report, packages } = told;
  const { name } = folder;
  const inner = foldersAmong(folder.paths, name);
  const inPackages = inner.filter((one) => packages.has(`${name}/${one}`)).length;
  const areToldBelow = inPackages > inner.length / 2;
  const instead = areToldBelow ? `; ${inPackages} packages, told below` : "";
  const facts = report.facts.map(({ label, text }) => {
    const isDouble = label === "Holds" && (areToldBelow || report.inner.length > 0);
    return { label, text: isDouble ? text.replace(innerNames, instead) : text };
  });
  const [lead, ...others] = facts;
  return [
    {
      name,
      depth: 0,
      text: lead?.text ?? "",
      facts: others.slice(0, shownFacts).map(({ label, text }) => `${label}: ${text}`),
    },
    ...(areToldBelow ? [] : report.inner).map((one): FolderLine => ({ ...one, depth: 1 })),
  ];
}

/** A top folder's own line and those of the folders in it, which follow it. */
function byFolder(lines: readonly FolderLine[]): ReadonlyMap<string, readonly FolderLine[]> {
  const found = new Map<string, FolderLine[]>();
  let current: FolderLine[] = [];
  for (const line of lines) {
    if (line.depth === 0) {
      current = [];
      found.set(line.name, current);
    }
    current.push(line);
  }
  return found;
}

function noteOn(sentCount: number, failures: ReadonlyMap<string, string>): string | undefined {
  const reports = sentCount - failures.size;
  const told =
    reports === 0
      ? []
      : [`${countOf(reports, "Explore agent")} reported on ${reports === 1 ? "a folder" : "a folder each"}.`];
  const reasons = new Map<string, string[]>();
  for (const [name, reason] of failures) reasons.set(reason, [...(reasons.get(reason) ?? []), `${name}/`]);
  const failed = [...reasons].map(
    ([reason, names]) => `No agent reported on ${names.join(", ")} (${reason}), so I looked myself.`,
  );
  return sentCount === 0 ? undefined : [...told, ...failed].join(" ");
}

import type { Model } from "../model.ts";
import { tellNews } from "./notified.ts";
import type { Playbook } from "./playbook.ts";
import { createPlaybookModel } from "./playbook-model.ts";
import { createAskAgent } from "./playbooks/ask-agent.ts";
import { countThings } from "./playbooks/count-things.ts";
import { explainCode } from "./playbooks/explain-code.ts";
import { explore } from "./playbooks/explore.ts";
import { findTests } from "./playbooks/find-tests.ts";
import { findThings } from "./playbooks/find-things.ts";
import { help, lostAnswer } from "./playbooks/help.ts";
import { createInBackground } from "./playbooks/in-background.ts";
import { listTodos } from "./playbooks/list-todos.ts";
import { lookAtTasks } from "./playbooks/look-at-tasks.ts";
import { mapRepository } from "./playbooks/map-repository.ts";
import { measureProject } from "./playbooks/measure-project.ts";
import { createMisspeltRequest } from "./playbooks/misspelt-request.ts";
import { recentChanges } from "./playbooks/recent-changes.ts";
import { renameSymbol } from "./playbooks/rename-symbol.ts";
import { reviewChange } from "./playbooks/review-change.ts";
import { runTests } from "./playbooks/run-tests.ts";
import { createSeveralRequests } from "./playbooks/several-requests.ts";
import { stopTask } from "./playbooks/stop-task.ts";
import { tellAgent } from "./playbooks/tell-agent.ts";
import { answerService } from "./service-requests.ts";
import { summarizeIfAsked } from "./summarize.ts";

/** The narrower a playbook's wording, the earlier it is asked. */
const withoutAgents: readonly Playbook[] = [
  renameSymbol,
  reviewChange,
  runTests,
  listTodos,
  recentChanges,
  measureProject,
  countThings,
  mapRepository,
  explore,
  findTests,
  findThings,
  explainCode,
];

const singleRequests: readonly Playbook[] = [
  stopTask,
  lookAtTasks,
  tellAgent,
  createAskAgent(withoutAgents),
  createInBackground(withoutAgents),
  ...withoutAgents,
];

const asSpelt: readonly Playbook[] = [...singleRequests, createSeveralRequests(singleRequests)];

export const everydayPlaybooks: readonly Playbook[] = [...asSpelt, createMisspeltRequest(asSpelt), help];

/** What a newcomer without a key gets: everyday requests answered by rules, with tools that really run. */
export function createOfflineModel(): Model {
  return createPlaybookModel({
    provider: "offline",
    id: "offline",
    playbooks: everydayPlaybooks,
    lost: lostAnswer,
    told: tellNews,
    instead: (messages) => summarizeIfAsked(messages) ?? answerService(messages),
  });
}

/** `cadre doctor`: looks, changes nothing, and says what to do. */

import { createNodeWorld } from "../../base/world/node-world.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import type { OptionValues } from "../arguments.ts";
import { checkMachine, type Finding } from "../checks.ts";
import type { CommandIo } from "../command-io.ts";
import type { doctorOptions } from "../options.ts";
import { currentFolder } from "../run-request.ts";

export async function runDoctor(values: OptionValues<typeof doctorOptions>, io: CommandIo): Promise<number> {
  const findings = await checkMachine({
    world: createNodeWorld(),
    nodeVersion: process.versions.node,
    cwd: currentFolder(),
    modelFlag: values.model,
    settingsFlag: values.settings,
  });
  const failed = findings.some((finding) => finding.state === "fail");
  const text = values.json
    ? `${JSON.stringify({ version: io.version, ok: !failed, findings }, null, 2)}\n`
    : findings.map(lineOf).join("") + summaryOf(findings);
  await io.stdout.write(text);
  return failed ? exitCodes.failed : exitCodes.success;
}

/** Aligned, so that the states can be read at a glance. */
const nameWidth = 9;

function lineOf({ state, name, message, advice }: Finding): string {
  const line = `${state.padEnd(5)} ${name.padEnd(nameWidth)} ${message}\n`;
  return advice === undefined ? line : `${line}${" ".repeat(nameWidth + 7)}${advice}\n`;
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (state: Finding["state"]) => findings.filter((finding) => finding.state === state).length;
  const parts = [
    `${count("ok")} ok`,
    ...(count("info") > 0 ? [`${count("info")} optional and not there`] : []),
    `${count("warn")} to look at`,
    `${count("fail")} failed`,
  ];
  return `\n${parts.join(", ")}\n`;
}

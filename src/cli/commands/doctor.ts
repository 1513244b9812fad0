/** `cadre doctor`: looks, changes nothing, and says what to do. */

import { forTerminal } from "../../base/markup.ts";
import { createNodeWorld } from "../../base/world/node-world.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import type { OptionValues } from "../arguments.ts";
import { checkMachine, type Finding } from "../checks.ts";
import type { CommandIo } from "../command-io.ts";
import type { doctorOptions } from "../options.ts";

export async function runDoctor(values: OptionValues<typeof doctorOptions>, io: CommandIo): Promise<number> {
  const findings = await checkMachine({
    world: createNodeWorld(),
    nodeVersion: process.versions.node,
    cwd: process.cwd(),
    modelFlag: values.model,
    settingsFlag: values.settings,
  });
  const failed = findings.some((finding) => finding.state === "fail");
  const text = values.json
    ? `${JSON.stringify({ version: io.version, ok: !failed, findings }, null, 2)}\n`
    : findings.map(lineOf).join("") + summaryOf(findings);
  await io.stdout.write(io.stdout.isTerminal ? forTerminal(text) : text);
  return failed ? exitCodes.failed : exitCodes.success;
}

function lineOf(finding: Finding): string {
  const advice = finding.advice === undefined ? "" : `\n      ${finding.advice}`;
  return `${finding.state.padEnd(5)} ${finding.name}: ${finding.message}${advice}\n`;
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (state: Finding["state"]) => findings.filter((finding) => finding.state === state).length;
  return `\n${count("ok")} ok, ${count("warn")} to look at, ${count("fail")} failed\n`;
}

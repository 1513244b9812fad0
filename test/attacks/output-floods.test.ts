/** Row 65: what never ends, or unfolds without end, costs a bounded time and a bounded number of bytes. */
import { execFileSync } from "node:child_process";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createProjectRules } from "../../src/runtime/project-rules.ts";
import { createToolScene, type ToolScene } from "../../src/testing/tool-scene.ts";
import { createBashTool } from "../../src/toolbox/bash.ts";
import { createEditTool } from "../../src/toolbox/edit.ts";
import { createGrepTool } from "../../src/toolbox/grep.ts";
import { createNotebookEditTool } from "../../src/toolbox/notebook-edit.ts";
import { createReadTool } from "../../src/toolbox/read.ts";
import { createWebFetchTool } from "../../src/toolbox/web-fetch.ts";
import { createWriteTool } from "../../src/toolbox/write.ts";
import { answerOf } from "../../src/tools/answer.ts";
import type { Tool } from "../../src/tools/tool.ts";

let scene: ToolScene;
beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

/** What the model gets of a call. */
async function answer(tool: Tool, input: Record<string, unknown>): Promise<string> {
  const outcome = await scene.run(tool, input);
  const call = { type: "tool_use" as const, id: "c", name: tool.name, input };
  const { content } = await answerOf({ call, tool, outcome, context: scene.context });
  return typeof content === "string" ? content : JSON.stringify(content);
}

describe("row 65: a pipe without a writer", () => {
  const changes = { content: "x", old_string: "", new_string: "x", new_source: "x", cell_number: 0 };

  it.each([
    ["Read", createReadTool()],
    ["Write", createWriteTool()],
    ["Edit", createEditTool()],
    ["NotebookEdit", createNotebookEditTool()],
  ])("does not hold up %s", async (_, tool) => {
    execFileSync("mkfifo", [scene.path("pipe.ipynb")]);
    const path = scene.path("pipe.ipynb");
    expect(await scene.fail(tool, { file_path: path, notebook_path: path, ...changes })).toMatch(
      /not a (regular )?file|neither|cannot be/i,
    );
  });

  it("does not hold up a search, nor the writing of a rule", async () => {
    await scene.write(".cadre/other", "");
    execFileSync("mkfifo", [scene.path("pipe"), scene.path(".cadre/settings.local.json")]);
    await scene.write("a.txt", "text");
    expect(await scene.call(createGrepTool(), { pattern: "text" })).toContain("a.txt");
    const { keep } = createProjectRules({ world: scene.world, folder: scene.folder });
    expect(await keep(["Bash"])).toContain("for this session only");
  });

  it.skipIf(process.platform !== "linux")("and a device without an end are not read", async () => {
    expect(await scene.fail(createReadTool(), { file_path: "/dev/zero" })).toMatch(/\/dev\/zero/);
  });
});

describe("row 65: output without an end", () => {
  it("of a command is cut, and kept in a file up to a limit", async () => {
    const text = await answer(createBashTool(), { command: "yes '0123456789' | head -c 50000000" });
    expect(text.length).toBeLessThan(40_000);
    expect(text).toContain("0123456789");
  });

  it("of a command that never ends stops at its timeout", async () => {
    const text = await answer(createBashTool(), { command: "yes", timeout: 500 });
    expect(text.length).toBeLessThan(40_000);
  });

  it("in one line is cut: read and searched", async () => {
    await scene.write("line.txt", Buffer.alloc(60 * 1024 * 1024, "a"));
    expect((await answer(createReadTool(), { file_path: "line.txt" })).length).toBeLessThan(10_000);
    const found = await answer(createGrepTool(), { pattern: "a{5}", output_mode: "content" });
    expect(found.length).toBeLessThan(110_000);
  });
});

describe("row 65: a page that unfolds", () => {
  async function fetched(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return await scene.fail(createWebFetchTool({ allowPrivateHosts: ["127.0.0.1"] }), { url });
    } finally {
      scene.world.network.close();
      server.closeAllConnections();
      server.close();
    }
  }

  const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024));

  it.each([
    ["gzip", bomb],
    ["gzip, gzip", gzipSync(bomb)],
  ])("from %s is given up when it is too large", async (encoding, body) => {
    expect(body.length).toBeLessThan(200_000);
    const said = await fetched((_, response) => {
      response.writeHead(200, { "content-type": "text/plain", "content-encoding": encoding }).end(body);
    });
    expect(said).toContain("larger than");
  });

  it("without an end, too", async () => {
    const said = await fetched((_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      const piece = Buffer.alloc(64 * 1024, "<b>");
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on("drain", more);
      more();
    });
    expect(said).toContain("larger than");
  });
});

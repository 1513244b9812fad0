/** Opens a session to other processes of the same user, as soon as there is something for them to do with it. */
import type { AddressResolver } from "../agents/address-book.ts";
import { CadreError } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { ControlledSession } from "./control-requests.ts";
import type { ControlSocket } from "./control-socket.ts";

export interface SessionControl {
  /** Others can reach the session when it resolves. Never rejects. */
  open(): Promise<void>;
  /** To be called while the session is still locked. */
  close(): Promise<void>;
  /** Messages to other sessions on this machine: `uds:PATH` (TA-14). */
  readonly otherSessions: AddressResolver;
}

export function createSessionControl(options: {
  world: World;
  session: ControlledSession;
  onProblem: (message: string) => void;
}): SessionControl {
  const { world, session } = options;
  let socket: Promise<ControlSocket> | undefined;
  let closed = false;

  const open = async () => {
    if (closed) return;
    // Most sessions are never reached: what does that is loaded when it is needed.
    socket ??= import("./control-socket.ts").then(({ createControlSocket }) => createControlSocket(options));
    await (await socket).open();
  };
  // With the first task in the background, of which others can ask.
  const stopWatching = session.tasks.onChange(({ task }) => {
    if (!task.isBackgrounded) return;
    stopWatching();
    void open();
  });

  return {
    open,
    async close() {
      closed = true;
      stopWatching();
      await (await socket)?.close();
    },
    otherSessions: {
      name: "sessions on this machine",
      matches: (to) => to.startsWith("uds:"),
      async send({ to, content, uuid, sender }) {
        const { sendToSession } = await import("./session-address.ts");
        const { controlSocketPath } = await import("./control-path.ts");
        // So that the other side can answer.
        await open();
        const own = `uds:${controlSocketPath(world, session.id)}`;
        const from = sender.agentId === undefined ? own : `${own} (agent ${sender.name})`;
        try {
          await sendToSession({ world, to, from, id: uuid, text: String(content) });
        } catch (error) {
          if (!(error instanceof CadreError)) throw error;
          throw new ToolFailure(`Not sent: ${error.message}`, { code: error.code, cause: error });
        }
        return { status: "delivered", to, note: `Delivered. The session at ${to} gets it at its next step.` };
      },
    },
  };
}

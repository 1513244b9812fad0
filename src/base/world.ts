/**
 * The only door outside. Clock, random numbers, files, processes and network come in as one value,
 * so that the same engine runs under a virtual clock with injected faults. Everything here is an
 * interface; `world/` holds the real implementations and `testing/` the virtual ones.
 */

export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly files: FileSystem;
  readonly processes: Processes;
  readonly network: Network;
  readonly sockets: Sockets;
  /** The environment variables the runtime itself reads. Never mutated. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly homeFolder: string;
  readonly tempFolder: string;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never go back, for durations. */
  monotonicMs(): number;
  /** Calls back once. A timer does not keep the process alive on its own if `unref` is set. */
  setTimer(delayMs: number, callback: () => void, options?: { unref?: boolean }): Timer;
}

export interface Timer {
  cancel(): void;
}

export interface Random {
  /** A number in [0, 1). */
  number(): number;
  bytes(count: number): Uint8Array;
  uuid(): string;
}

export interface FileInfo {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  readonly inode: number;
  /** How many names it has. An open file without any was removed. */
  readonly links: number;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: FileInfo["kind"];
}

/** System errors keep their `code` (`ENOENT`, `ENOSPC`, ...). Paths are absolute. */
export interface FileSystem {
  readFile(path: string): Promise<Uint8Array>;
  readText(path: string): Promise<string>;
  /** Creates or truncates. For anything that matters use `base/files.ts`, which replaces atomically. */
  writeFile(
    path: string,
    data: string | Uint8Array,
    options?: { mode?: number; exclusive?: boolean },
  ): Promise<void>;
  open(path: string, mode: OpenMode, options?: { fileMode?: number }): Promise<FileHandle>;
  /** Follows links. */
  stat(path: string): Promise<FileInfo>;
  /** Does not follow links. */
  lstat(path: string): Promise<FileInfo>;
  realPath(path: string): Promise<string>;
  readFolder(path: string): Promise<FolderEntry[]>;
  makeFolder(path: string, options?: { recursive?: boolean; mode?: number }): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** A hard link; fails with `EEXIST` if `to` exists. */
  link(existing: string, to: string): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  readLink(path: string): Promise<string>;
  remove(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  /** Makes a rename or a new name in this folder durable. */
  syncFolder(path: string): Promise<void>;
  /** Calls back when something at `path` may have changed; may call back for nothing. */
  watch(path: string, onChange: () => void): { close(): void };
}

/**
 * `append` creates; `read` and `update` need an existing file; `create` fails if it exists. `read` never waits
 * for the other end of a pipe.
 */
export type OpenMode = "read" | "append" | "update" | "create";

export interface FileHandle {
  /** Reads up to `length` bytes at `position`; fewer at the end of the file. */
  read(position: number, length: number): Promise<Uint8Array>;
  /** Writes all of `data` at the end (append) or at `position`. */
  write(data: Uint8Array, position?: number): Promise<void>;
  truncate(length: number): Promise<void>;
  /** fdatasync. */
  sync(): Promise<void>;
  stat(): Promise<FileInfo>;
  /** The name of the file that is open, links resolved: what was judged is what is read. */
  realPath(): Promise<string>;
  close(): Promise<void>;
}

export interface SpawnOptions {
  readonly cwd: string;
  /** The whole environment of the child: nothing is inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text or bytes for standard input, then end of file. Absent: empty input. `"pipe"`: written through the handle. */
  readonly input?: string | Uint8Array | "pipe";
  /** The child leads a process group of its own, so that `kill` reaches everything it started. Default true. */
  readonly ownGroup?: boolean;
  /** It is not ended when this process exits, and does not keep it from exiting. Nobody hears what it says. */
  readonly outlives?: boolean;
}

export interface Processes {
  /** The id of this process. */
  readonly pid: number;
  /** Never throws for a missing program: `exited` then rejects with a system error (`ENOENT`). */
  spawn(command: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  /** Whether a process with this id is alive (signal 0). */
  isAlive(pid: number): boolean;
  /** Something that tells two processes with the same id apart (start time), or undefined if it is gone or unknown. */
  identityOf(pid: number): Promise<string | undefined>;
}

export interface ChildProcess {
  readonly pid: number | undefined;
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Resolves when the process ended and its output was read to the end or given up. */
  readonly exited: Promise<ProcessExit>;
  write(data: string | Uint8Array): Promise<void>;
  closeInput(): void;
  /** Signals the process, with `ownGroup` its whole group. Says nothing if it is gone. */
  kill(signal: NodeJS.Signals): void;
  /** Whether there is anybody whom `kill` would reach; of a group this can be so long after `exited`. */
  isAlive(): boolean;
}

export interface ProcessExit {
  /** Null when it ended by a signal. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The part of the fetch interface that provider SDKs and tools use. */
export interface Network {
  fetch(input: string | URL, init?: FetchInit): Promise<FetchResponse>;
  /** Ends idle keep-alive connections, so that the process can exit. */
  close(): void;
}

export interface FetchInit {
  method?: string;
  headers?: Headers | Record<string, string> | readonly (readonly [string, string])[];
  body?: string | Uint8Array | null;
  signal?: AbortSignal | null;
  redirect?: "follow" | "manual" | "error";
}

export interface FetchResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
  text(): Promise<string>;
  json(): Promise<unknown>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Streams of bytes between processes of one machine, by the path of a socket in the file system. */
export interface Sockets {
  /**
   * The socket is for its owner alone, keeps no process alive, and is removed when it is closed. Rejects with
   * `EADDRINUSE` if there is something at the path, also what a process that died has left.
   */
  listen(path: string, onConnection: (connection: Connection) => void): Promise<SocketListener>;
  /** Rejects with `ENOENT` or `ECONNREFUSED` when nobody listens. */
  connect(path: string): Promise<Connection>;
  /** Whether it is a socket, itself and not a link to one, and belongs to the user of this process. */
  isOwn(path: string): Promise<boolean>;
}

export interface SocketListener {
  /** Cuts its connections off as well. */
  close(): Promise<void>;
}

export interface Connection {
  /** What the other side sends, until it ends. Who stops reading can go on later, by one reader at a time. */
  readonly incoming: AsyncIterable<Uint8Array>;
  /** Resolves when the system has taken it. */
  write(data: string | Uint8Array): Promise<void>;
  /** Nothing more is written; what was written still arrives. */
  end(): void;
  /** Cuts it off. */
  close(): void;
}

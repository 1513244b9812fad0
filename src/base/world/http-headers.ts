import type { FetchInit } from "../world.ts";

/**
 * Stands in for the global `Headers`, whose first use loads the whole of Node's own fetch (docs/decisions/004).
 * Names are kept in lower case; values of one name are joined, except for set-cookie.
 */
export class HeaderList implements Headers {
  readonly #values = new Map<string, string>();
  readonly #cookies: string[] = [];

  constructor(init?: FetchInit["headers"] | null) {
    if (init === undefined || init === null) return;
    const pairs = Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value] of pairs) if (value !== undefined && value !== null) this.append(name, value);
  }

  /** From the flat list of names and values that Node's parser delivers. */
  static fromRaw(raw: readonly string[]): HeaderList {
    const list = new HeaderList();
    for (let index = 0; index + 1 < raw.length; index += 2)
      list.append(raw[index] ?? "", raw[index + 1] ?? "");
    return list;
  }

  append(name: string, value: string): void {
    const key = name.toLowerCase();
    if (key === "set-cookie") {
      this.#cookies.push(value);
      return;
    }
    const present = this.#values.get(key);
    this.#values.set(key, present === undefined ? String(value) : `${present}, ${value}`);
  }

  set(name: string, value: string): void {
    this.delete(name);
    this.append(name, value);
  }

  delete(name: string): void {
    const key = name.toLowerCase();
    if (key === "set-cookie") this.#cookies.length = 0;
    else this.#values.delete(key);
  }

  get(name: string): string | null {
    const key = name.toLowerCase();
    if (key === "set-cookie") return this.#cookies.length === 0 ? null : this.#cookies.join(", ");
    return this.#values.get(key) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  getSetCookie(): string[] {
    return [...this.#cookies];
  }

  forEach(callback: (value: string, key: string, self: Headers) => void, thisArgument?: unknown): void {
    for (const [name, value] of this.entries()) callback.call(thisArgument, value, name, this);
  }

  *entries(): Generator<[string, string], undefined, undefined> {
    const names = [...this.#values.keys()];
    if (this.#cookies.length > 0) names.push("set-cookie");
    for (const name of names.sort()) {
      if (name === "set-cookie") for (const cookie of this.#cookies) yield [name, cookie];
      else yield [name, this.#values.get(name) ?? ""];
    }
  }

  *keys(): Generator<string, undefined, undefined> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): Generator<string, undefined, undefined> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<[string, string], undefined, undefined> {
    return this.entries();
  }
}

/**
 * Where things stand in a JSON text. The engine's own parser gives a position only for some errors and
 * never for values, and a person who mends a file needs the line.
 */
export interface JsonPositions {
  /** Where the text stops being JSON. */
  readonly errorAt: number | undefined;
  /** The offset of the value at a path, or of the nearest value around it. */
  offsetOf(path: readonly PropertyKey[]): number;
}

export function locateJson(text: string): JsonPositions {
  const offsets = new Map<string, number>();
  const errorAt = scan(text, offsets);
  return {
    errorAt,
    offsetOf(path) {
      for (let length = path.length; length > 0; length--) {
        const offset = offsets.get(keyOf(path.slice(0, length)));
        if (offset !== undefined) return offset;
      }
      return offsets.get(keyOf([])) ?? 0;
    },
  };
}

/** 1-based, as editors count. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function keyOf(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}

const stringPattern = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const literalPattern = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const spacePattern = /[ \t\r\n]*/y;

/** Nobody nests settings like that; a text made to exhaust the stack ends here. */
const maxDepth = 200;

/** Thrown and caught in this file only. */
class NotJson extends Error {
  readonly offset: number;
  constructor(offset: number) {
    super("not JSON");
    this.offset = offset;
  }
}

function scan(text: string, offsets: Map<string, number>): number | undefined {
  let at = 0;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const skipSpace = () => match(spacePattern);
  const take = (character: string): boolean => {
    if (text[at] !== character) return false;
    at++;
    return true;
  };
  const fail = (): never => {
    throw new NotJson(at);
  };

  const value = (path: PropertyKey[]): void => {
    if (path.length > maxDepth) fail();
    skipSpace();
    offsets.set(keyOf(path), at);
    if (take("{")) object(path);
    else if (take("[")) list(path);
    else if (match(stringPattern) === undefined && match(literalPattern) === undefined) fail();
    skipSpace();
  };
  const object = (path: PropertyKey[]): void => {
    skipSpace();
    if (take("}")) return;
    do {
      skipSpace();
      const key = match(stringPattern) ?? fail();
      skipSpace();
      if (!take(":")) fail();
      value([...path, JSON.parse(key) as string]);
    } while (take(","));
    if (!take("}")) fail();
  };
  const list = (path: PropertyKey[]): void => {
    skipSpace();
    if (take("]")) return;
    let index = 0;
    do value([...path, index++]);
    while (take(","));
    if (!take("]")) fail();
  };

  try {
    value([]);
    return at < text.length ? at : undefined;
  } catch (error) {
    if (error instanceof NotJson) return error.offset;
    throw error;
  }
}

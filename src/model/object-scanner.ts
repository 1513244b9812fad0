/** Tells when a JSON object that arrives in pieces is whole, without parsing it again and again. */
export interface ObjectScanner {
  /** True when the object has ended with this piece, and nothing but white space stands after it. */
  push(piece: string): boolean;
  reset(): void;
}

export function createObjectScanner(): ObjectScanner {
  let depth = 0;
  let inText = false;
  let escaped = false;
  let begun = false;
  let strayed = false;

  const step = (char: string): void => {
    if (inText) {
      if (escaped) escaped = false;
      else if (char === "\\") escaped = true;
      else if (char === '"') inText = false;
      return;
    }
    const isSpace = char === " " || char === "\n" || char === "\t" || char === "\r";
    // Before the object, or after it, there can only be white space.
    if (depth === 0 && !isSpace && (begun || char !== "{")) strayed = true;
    if (char === '"') inText = true;
    else if (char === "{" || char === "[") {
      depth += 1;
      begun = true;
    } else if (char === "}" || char === "]") depth -= 1;
  };

  return {
    push(piece) {
      for (const char of piece) step(char);
      return begun && depth === 0 && !inText && !strayed;
    },
    reset() {
      depth = 0;
      inText = false;
      escaped = false;
      begun = false;
      strayed = false;
    },
  };
}

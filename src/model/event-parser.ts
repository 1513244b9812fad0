/** Server-sent events, as their bytes come in. */
export interface ServerSentEvent {
  readonly event: string | null;
  readonly data: string;
}

/**
 * Gives all events of a piece at once: a promise for each of them, as an iterator would make, costs more than the
 * parsing. Lines end with LF, CR or both; fields other than `event` and `data` are of no use here.
 */
export class EventParser {
  readonly #decoder = new TextDecoder();
  /** The line whose end has not come. It is only added to: to look at it again with every piece would take forever. */
  #line = "";
  /** An LF that follows belongs to the CR before it. */
  #endedInCr = false;
  #event: string | null = null;
  #data: string | undefined;

  push(piece: Uint8Array): ServerSentEvent[] {
    return this.#read(this.#decoder.decode(piece, { stream: true }));
  }

  /** Some servers do not end their last event, which then would be lost. One LF may be taken for half of a CR LF. */
  end(): ServerSentEvent[] {
    return this.#read(`${this.#decoder.decode()}\n\n\n`);
  }

  #read(piece: string): ServerSentEvent[] {
    const text = this.#withPlainLineEnds(piece);
    const events: ServerSentEvent[] = [];
    let from = 0;
    for (let to = text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
      const line = this.#line + text.slice(from, to);
      this.#line = "";
      if (line === "") this.#endEvent(events);
      else this.#takeLine(line);
      from = to + 1;
    }
    this.#line += text.slice(from);
    return events;
  }

  #withPlainLineEnds(piece: string): string {
    if (piece === "") return piece;
    const text = this.#endedInCr && piece.startsWith("\n") ? piece.slice(1) : piece;
    this.#endedInCr = piece.endsWith("\r");
    return text.includes("\r") ? text.replaceAll("\r\n", "\n").replaceAll("\r", "\n") : text;
  }

  #takeLine(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const start = line.charAt(colon + 1) === " " ? colon + 2 : colon + 1;
    const value = colon < 0 ? "" : line.slice(start);
    if (name === "event") this.#event = value;
    else if (name === "data") this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }

  #endEvent(events: ServerSentEvent[]): void {
    if (this.#event !== null || this.#data !== undefined)
      events.push({ event: this.#event, data: this.#data ?? "" });
    this.#event = null;
    this.#data = undefined;
  }
}

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
  /** The beginning of a line, or a CR that may be half of a line's end. */
  #rest = "";
  #event: string | null = null;
  #data: string | undefined;

  push(piece: Uint8Array): ServerSentEvent[] {
    return this.#read(this.#decoder.decode(piece, { stream: true }));
  }

  /** Some servers do not end their last event, which then would be lost. */
  end(): ServerSentEvent[] {
    return this.#read(`${this.#decoder.decode()}\n\n`);
  }

  #read(piece: string): ServerSentEvent[] {
    const text = this.#withPlainLineEnds(this.#rest + piece);
    const events: ServerSentEvent[] = [];
    let from = 0;
    for (let to = text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
      if (to > from) this.#takeLine(text.slice(from, to));
      else this.#endEvent(events);
      from = to + 1;
    }
    this.#rest = text.slice(from) + this.#rest;
    return events;
  }

  /** A CR at the very end waits for what follows it. */
  #withPlainLineEnds(text: string): string {
    this.#rest = "";
    if (!text.includes("\r")) return text;
    if (text.endsWith("\r")) this.#rest = "\r";
    const whole = this.#rest === "" ? text : text.slice(0, -1);
    return whole.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
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

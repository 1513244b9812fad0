/** Which part of a map a request asks for. */
import type { Wording } from "../wording.ts";

export type MapPart = "everything" | "languages" | "licence" | "commands" | "entries" | "folders";

const place =
  "(?:repo(?:sitory)?s?|project|code ?base|(?:source )?code|folder|directory|dir|workspace|package|library|lib|app(?:lication)?|program|software|tool|thing|stuff)";
const adjectives = "(?:(?:this|the|my|our|your|that|current|whole|entire|complete|git|github|new) )";
const here = `(?:${adjectives}+${place}|${place}|this|it|here|everything)`;
const view =
  "(?:overview|map|summary|tour|outline|structure|layout|description|introduction|intro|architecture|big picture|walk-?through|high[- ]level (?:view|picture|overview))";
const kindOfView =
  "(?:quick|short|brief|general|rough|good|little|complete|project|repo|code|high[- ]level|basic|simple|one[- ]line)";

const questions: Readonly<Record<MapPart, readonly string[]>> = {
  everything: [
    `(?:map|describe|summari[sz]e|outline|overview|explain|explore|analy[sz]e|inspect|survey|introduce|understand|scan|onboard me (?:to|on|in)|brief me on|tell me about|walk me through|orient me in|get to know|read|look at|take a look at)(?: me)?(?: (?:of|to))? ${here}(?: (?:structure|layout|architecture|briefly|quickly|in short|in brief|at a glance|here))*`,
    `(?:explain|describe|summari[sz]e|outline) (?:the |its )?${view}(?: (?:of|for) ${here})?`,
    `(?:(?:give|show|draw|tell|get|write|provide)(?: (?:me|us))? )?(?:an? |the )?(?:${kindOfView} )*${view}(?: (?:of|through|to|about|for) ${here})?`,
    `what (?:is|does|are|was)(?: (?:in|inside))? ${here}(?: (?:about|do|for|doing|all|all about|all for|made of|supposed to do|good for|used for|contain|exactly))*`,
    `what ${here}(?: actually| really)? (?:is|does|is about|is for|contains|is all about|is used for|is good for|is supposed to do)`,
    `what is (?:the )?(?:purpose|point|goal|aim|idea|structure|layout|architecture|overview) (?:of|behind) ${here}`,
    "what (?:am i|are we) looking at|where am i|onboard me|get me started|i am new(?: here| to (?:this|the) \\w+)?|what should i (?:know|read)(?: first)?",
    `(?:where|how) (?:do|should|can) (?:i|we|one) (?:get started|start|begin)(?: reading)?(?: (?:with|in|on) ${here})?`,
    `how is ${here} (?:structured|organi[sz]ed|laid out|built up|put together|arranged)`,
    `how does ${here} (?:work|hang together)`,
    `what are (?:the|its) (?:main |key |major |important |different )*(?:components|parts|modules|pieces|building blocks)(?: of ${here})?`,
    `read (?:the |its )?readme(?: and (?:tell me|say|explain|summari[sz]e).*)?`,
  ],
  languages: [
    `(?:what|which)(?: programming| main)? languages?(?: (?:is|are|was|were|does|do|use|used|uses|written|there|we|in|made|of|${here}))*`,
    `what is (?:the |its )?(?:main |primary )(?:programming )?language(?: of ${here})?`,
    `(?:what|which)(?: is the)? (?:tech(?:nology|nical)? )?stack(?: (?:is|are|does|do|use|used|uses|we|of|in|${here}))*`,
    `what is ${here} (?:written|made|built|implemented|programmed|coded) (?:in|with)`,
  ],
  licence: [
    `(?:(?:what|which)(?: is)?(?: (?:the|its|kind of|sort of))* )?licen[cs]e(?: (?:is|are|does|do|use|used|uses|has|have|under|we|of|in|${here}))*`,
    `how is ${here} licen[cs]ed|is ${here} (?:open source|free software)|under (?:what|which) licen[cs]e is ${here}(?: published| released)?`,
  ],
  commands: [
    `how (?:do|can|should|would|could|to)(?: (?:i|we|you|one))?(?: go about)? (?:build|compile|test|run|start|install|launch|execute)(?:(?: and| or|,) (?:build|compile|test|run|start|install))*(?: (?:${here}|the (?:tests?|test suite|unit tests|server|app|program)|tests))?`,
    `what (?:is|are) the (?:build|test|tests|build and test)(?: commands?| steps?)?|which commands? (?:builds?|runs?|tests?) (?:${here}|the tests)`,
  ],
  entries: [
    `(?:(?:what|where|which) (?:is|are) |(?:list|show|find)(?: me)? )(?:all )?(?:the |its )?(?:main )?(?:entry[ -]?points?)(?: (?:of|to|in|for) ${here})?`,
    `(?:where|how) does (?:the (?:program|app|code|execution|server)|${here}) (?:start|begin)`,
    "(?:where|what) is (?:the )?main (?:function|method|file|program|module|entry)",
  ],
  folders: [
    `(?:(?:show|list|what are|give|print|display)(?: me)? )(?:all )?(?:the |its )?(?:top |main )?(?:folders|directories|folder structure|directory structure|project structure|file structure|directory tree|folder tree|file tree|tree)(?: (?:of|in) ${here})?`,
    "tree|folder structure|directory structure",
  ],
};

const parts = Object.keys(questions) as MapPart[];
const patterns = new Map(
  parts.map((part) => [part, new RegExp(`^(?:${questions[part].join("|")})$`, "i")] as const),
);

export function partAsked(wording: Wording): MapPart | undefined {
  // The narrow questions first: "what is the main file" is none about everything.
  const narrowFirst = [...parts.slice(1), "everything" as const];
  return narrowFirst.find((part) => patterns.get(part)?.test(wording.text) === true);
}

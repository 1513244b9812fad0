/** Which language a file is in, by its name. */
export interface Language {
  readonly name: string;
  readonly extensions: readonly string[];
  /** Programs, as opposed to text, data and markup: only these can be a project's main language. */
  readonly isCode: boolean;
  /** As people call it in a prompt, besides its name. */
  readonly aliases?: readonly string[];
}

export const languages: readonly Language[] = [
  code("TypeScript", ["ts", "tsx", "mts", "cts"], ["ts", "tsx"]),
  code("JavaScript", ["js", "jsx", "mjs", "cjs"], ["js", "jsx", "node"]),
  code("Python", ["py", "pyi"], ["py"]),
  code("Go", ["go"], ["golang"]),
  code("Rust", ["rs"], ["rs"]),
  code("Java", ["java"]),
  code("Kotlin", ["kt", "kts"]),
  code("Scala", ["scala", "sc"]),
  code("C", ["c"]),
  // The name does not say which of the two it is.
  text("C or C++ header", ["h"], ["header"]),
  code("C++", ["cc", "cpp", "cxx", "hpp", "hh", "hxx"], ["cpp", "cxx"]),
  code("C#", ["cs"], ["csharp", "cs"]),
  code("Swift", ["swift"]),
  code("Ruby", ["rb", "rake"], ["rb"]),
  code("PHP", ["php"]),
  code("Perl", ["pl", "pm"]),
  code("Lua", ["lua"]),
  code("Elixir", ["ex", "exs"]),
  code("Erlang", ["erl", "hrl"]),
  code("Haskell", ["hs"]),
  code("OCaml", ["ml", "mli"]),
  code("Clojure", ["clj", "cljs", "cljc"]),
  code("Dart", ["dart"]),
  code("Zig", ["zig"]),
  code("Julia", ["jl"]),
  code("R", ["r"]),
  code("Vue", ["vue"]),
  code("Svelte", ["svelte"]),
  code("Shell", ["sh", "bash", "zsh"], ["bash", "sh"]),
  code("PowerShell", ["ps1"]),
  code("SQL", ["sql"]),
  text("HTML", ["html", "htm"]),
  text("CSS", ["css", "scss", "sass", "less"]),
  text("Markdown", ["md", "mdx", "markdown"], ["md", "documentation", "doc"]),
  text("reStructuredText", ["rst"], ["rst"]),
  text("JSON", ["json", "jsonc", "json5"]),
  text("YAML", ["yaml", "yml"], ["yml"]),
  text("TOML", ["toml"]),
  text("XML", ["xml"]),
  text("Protocol Buffers", ["proto"], ["protobuf", "proto"]),
  text("Text", ["txt"], ["txt"]),
];

const byExtension = new Map(
  languages.flatMap((language) => language.extensions.map((extension) => [extension, language])),
);

export function languageOf(path: string): Language | undefined {
  const extension = extensionOf(path);
  return extension === undefined ? undefined : byExtension.get(extension);
}

export function extensionOf(path: string): string | undefined {
  const name = baseNameOf(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : undefined;
}

export function languageNamed(words: string): Language | undefined {
  const wanted = words.trim().toLowerCase();
  return languages.find(
    (language) => language.name.toLowerCase() === wanted || language.aliases?.includes(wanted) === true,
  );
}

/** A glob for all files of a language, wherever they are. */
export function globOf(language: Language): string {
  const [only, ...others] = language.extensions;
  return others.length === 0 ? `**/*.${only}` : `**/*.{${language.extensions.join(",")}}`;
}

export function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

/** By the naming habits of the usual test runners. */
export function isTestFile(path: string): boolean {
  const name = baseNameOf(path);
  return (
    /(?:^test_.*|.*_test|.*_spec|.*\.(?:test|spec)|.*Tests?|.*Spec)\.\w+$/.test(name) ||
    (languageOf(path)?.isCode === true &&
      /(?:^|\/)(?:tests?|__tests__|spec)\//.test(path) &&
      !/^(?:__init__|conftest)\./.test(name))
  );
}

function code(name: string, extensions: readonly string[], aliases?: readonly string[]): Language {
  return { name, extensions, isCode: true, ...(aliases === undefined ? {} : { aliases }) };
}

function text(name: string, extensions: readonly string[], aliases?: readonly string[]): Language {
  return { name, extensions, isCode: false, ...(aliases === undefined ? {} : { aliases }) };
}

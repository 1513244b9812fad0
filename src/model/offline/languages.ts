/** Which language a file is in, by its name. */
export interface Language {
  readonly name: string;
  readonly extensions: readonly string[];
  /** Names of files that are in it whatever their ending. */
  readonly fileNames: readonly string[];
  /** Programs, as opposed to text, data and markup: only these can be a project's main language. */
  readonly isCode: boolean;
  /** As people call it in a prompt, besides its name. */
  readonly aliases: readonly string[];
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
  code("F#", ["fs", "fsx"], ["fsharp"]),
  code("Visual Basic", ["vb"]),
  code("Objective-C", ["m", "mm"]),
  code("Swift", ["swift"]),
  code("Ruby", ["rb", "rake", "gemspec"], ["rb"], ["Rakefile", "Gemfile"]),
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
  code("Fortran", ["f", "f90", "f95"]),
  code("Assembly", ["s", "asm"]),
  code("Groovy", ["groovy", "gradle"], [], ["Jenkinsfile"]),
  code("Lisp", ["lisp", "el", "scm", "rkt"]),
  code("Nim", ["nim"]),
  code("Nix", ["nix"]),
  code("Tcl", ["tcl"]),
  code("Vim script", ["vim"]),
  code("Solidity", ["sol"]),
  code("Terraform", ["tf", "tfvars", "hcl"], ["tf", "hcl"]),
  code("Jupyter Notebook", ["ipynb"], ["jupyter", "notebook", "ipynb"]),
  code("Vue", ["vue"]),
  code("Svelte", ["svelte"]),
  code("Shell", ["sh", "bash", "zsh"], ["bash", "sh"]),
  code("PowerShell", ["ps1"]),
  code("Batch", ["bat", "cmd"]),
  code("SQL", ["sql"]),
  text("Makefile", ["mk"], ["make"], ["Makefile", "makefile", "GNUmakefile"]),
  text("CMake", ["cmake"], [], ["CMakeLists.txt"]),
  text("Dockerfile", ["dockerfile"], ["docker"], ["Dockerfile"]),
  text("HTML", ["html", "htm"]),
  text("CSS", ["css", "scss", "sass", "less"]),
  text("Markdown", ["md", "mdx", "markdown"], ["md", "documentation", "doc"]),
  text("reStructuredText", ["rst"], ["rst"]),
  text("JSON", ["json", "jsonc", "json5"]),
  text("YAML", ["yaml", "yml"], ["yml"]),
  text("TOML", ["toml"]),
  text("XML", ["xml", "xsd", "xsl", "csproj", "fsproj", "vbproj"]),
  text("CSV", ["csv", "tsv"]),
  text("SVG", ["svg"]),
  text("GraphQL", ["graphql", "gql"]),
  text("LaTeX", ["tex"]),
  text("AsciiDoc", ["adoc"]),
  text("Protocol Buffers", ["proto"], ["protobuf", "proto"]),
  text("Text", ["txt"], ["txt"]),
];

const byExtension = new Map(
  languages.flatMap((language) => language.extensions.map((extension) => [extension, language])),
);

const byFileName = new Map(
  languages.flatMap((language) => language.fileNames.map((fileName) => [fileName, language])),
);

export function languageOf(path: string): Language | undefined {
  const extension = extensionOf(path);
  const byEnding = extension === undefined ? undefined : byExtension.get(extension);
  return byFileName.get(baseNameOf(path)) ?? byEnding;
}

export function extensionOf(path: string): string | undefined {
  const name = baseNameOf(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : undefined;
}

export function languageNamed(words: string): Language | undefined {
  const wanted = words.trim().toLowerCase();
  return languages.find(
    (language) => language.name.toLowerCase() === wanted || language.aliases.includes(wanted),
  );
}

/** A glob for all files of a language, wherever they are. */
export function globOf(language: Language): string {
  const names = [...language.extensions.map((extension) => `*.${extension}`), ...language.fileNames];
  return names.length === 1 ? `**/${names[0]}` : `**/{${names.join(",")}}`;
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

type Names = readonly string[];

function code(name: string, extensions: Names, aliases: Names = [], fileNames: Names = []): Language {
  return { name, extensions, fileNames, isCode: true, aliases };
}

function text(name: string, extensions: Names, aliases: Names = [], fileNames: Names = []): Language {
  return { name, extensions, fileNames, isCode: false, aliases };
}

/** Tools whose commands follow from which files there are. */
import type { FolderView, FoundCommand } from "./project-command.ts";
import { parseToml } from "./project-manifests.ts";

export function pythonCommands(view: FolderView): FoundCommand[] {
  const commands: FoundCommand[] = [];
  const pyproject = view.lines("pyproject.toml");
  if (pyproject !== undefined && parseToml(pyproject).has("build-system"))
    commands.push({ purpose: "build", command: "python -m build", from: "pyproject.toml" });
  const test = pythonTest(view);
  if (test !== undefined) commands.push({ purpose: "test", ...test });
  return commands;
}

function pythonTest(view: FolderView): { command: string; from: string } | undefined {
  const pytestSign = pytestEvidence(view);
  if (pytestSign !== undefined) return { command: "python -m pytest", from: pytestSign };
  if (view.has("tox.ini")) return { command: "tox", from: "tox.ini" };
  if (view.has("noxfile.py")) return { command: "nox", from: "noxfile.py" };
  if (view.has("manage.py")) return { command: "python manage.py test", from: "manage.py" };
  const isPython = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"].some((name) =>
    view.has(name),
  );
  if (isPython && view.some((path) => /(?:^|\/)test_[^/]*\.py$/.test(path)))
    return { command: "python -m unittest discover", from: "test_*.py files; no other runner is named" };
  return undefined;
}

function pytestEvidence(view: FolderView): string | undefined {
  if (view.has("pytest.ini")) return "pytest.ini";
  if (view.has("conftest.py")) return "conftest.py";
  const says = (name: string, pattern: RegExp) =>
    view.lines(name)?.some((line) => pattern.test(line)) === true;
  if (says("pyproject.toml", /\bpytest\b/)) return "pyproject.toml";
  if (says("setup.cfg", /\[tool:pytest\]|\bpytest\b/)) return "setup.cfg";
  for (const name of ["requirements-dev.txt", "dev-requirements.txt", "requirements.txt"])
    if (says(name, /^pytest\b/i)) return name;
  return view.folder === "" && view.some((path) => /^tests?\/(?:.*\/)?conftest\.py$/.test(path))
    ? "conftest.py in the tests' folder"
    : undefined;
}

export function otherCommands(view: FolderView): FoundCommand[] {
  return [
    ...makeCommands(view),
    ...recipeCommands(view),
    ...jvmCommands(view),
    ...nativeCommands(view),
    ...scriptingCommands(view),
    ...scriptCommands(view),
  ];
}

function makeCommands(view: FolderView): FoundCommand[] {
  const name = ["GNUmakefile", "makefile", "Makefile"].find(
    (candidate) => view.lines(candidate) !== undefined,
  );
  if (name === undefined) return [];
  const targets = makeTargets(view.lines(name) ?? []);
  const build = ["build", "all"].find((target) => targets.includes(target));
  const test = ["test", "check", "tests"].find((target) => targets.includes(target));
  const isDefault = (target: string) => targets.find((each) => !each.startsWith(".")) === target;
  return [
    ...(build === undefined
      ? []
      : [{ purpose: "build" as const, command: isDefault(build) ? "make" : `make ${build}`, from: name }]),
    ...(test === undefined ? [] : [{ purpose: "test" as const, command: `make ${test}`, from: name }]),
  ];
}

function makeTargets(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const names = /^([A-Za-z0-9_][\w .-]*?)\s*::?(?!=)/.exec(line)?.[1];
    return names === undefined ? [] : names.split(/\s+/);
  });
}

function recipeCommands(view: FolderView): FoundCommand[] {
  const commands: FoundCommand[] = [];
  for (const name of ["justfile", "Justfile"])
    if (view.lines(name)?.some((line) => /^test\b[^=]*:(?!=)/.test(line)))
      commands.push({ purpose: "test", command: "just test", from: name });
  if (view.lines("Taskfile.yml")?.some((line) => /^\s+test:/.test(line)))
    commands.push({ purpose: "test", command: "task test", from: "Taskfile.yml" });
  return commands;
}

function jvmCommands(view: FolderView): FoundCommand[] {
  if (view.has("pom.xml")) return buildAndTest("pom.xml", "mvn package", "mvn test");
  const gradle = ["build.gradle", "build.gradle.kts"].find((name) => view.has(name));
  if (gradle === undefined) return [];
  const tool = view.has("gradlew") ? "./gradlew" : "gradle";
  return buildAndTest(gradle, `${tool} build`, `${tool} test`);
}

function nativeCommands(view: FolderView): FoundCommand[] {
  const commands: FoundCommand[] = [];
  const cmake = view.lines("CMakeLists.txt");
  if (cmake !== undefined) {
    const build = "cmake -B build && cmake --build build";
    commands.push({ purpose: "build", command: build, from: "CMakeLists.txt" });
    if (cmake.some((line) => /^\s*(?:enable_testing|add_test|include\s*\(\s*CTest)/i.test(line)))
      commands.push({
        purpose: "test",
        command: `${build} && ctest --test-dir build`,
        from: "CMakeLists.txt",
      });
  }
  if (view.has("meson.build")) {
    commands.push({
      purpose: "build",
      command: "meson setup build && meson compile -C build",
      from: "meson.build",
    });
    if (view.lines("meson.build")?.some((line) => /^\s*test\s*\(/.test(line)))
      commands.push({ purpose: "test", command: "meson test -C build", from: "meson.build" });
  }
  if (view.has("build.zig")) {
    commands.push({ purpose: "build", command: "zig build", from: "build.zig" });
    if (view.lines("build.zig")?.some((line) => /addTest|step\("test"/.test(line)))
      commands.push({ purpose: "test", command: "zig build test", from: "build.zig" });
  }
  if (view.has("Package.swift")) commands.push(...buildAndTest("Package.swift", "swift build", "swift test"));
  return commands;
}

function scriptingCommands(view: FolderView): FoundCommand[] {
  const commands: FoundCommand[] = [...phpCommands(view), ...rubyCommands(view), ...dotnetCommands(view)];
  if (view.has("mix.exs")) commands.push(...buildAndTest("mix.exs", "mix compile", "mix test"));
  const deno = ["deno.json", "deno.jsonc"].find((name) => view.has(name));
  if (deno !== undefined && view.some((path) => /(?:_test|\.test)\.tsx?$/.test(path)))
    commands.push({ purpose: "test", command: "deno test", from: deno });
  if (view.has("pubspec.yaml") && view.some((path) => path.endsWith("_test.dart")))
    commands.push({ purpose: "test", command: "dart test", from: "pubspec.yaml" });
  if (view.has("stack.yaml")) commands.push(...buildAndTest("stack.yaml", "stack build", "stack test"));
  return commands;
}

function phpCommands(view: FolderView): FoundCommand[] {
  const composer = view.lines("composer.json");
  if (composer?.some((line) => /^\s*"test"\s*:/.test(line)))
    return [{ purpose: "test", command: "composer test", from: "composer.json" }];
  const config = ["phpunit.xml", "phpunit.xml.dist"].find((name) => view.has(name));
  const asked =
    composer?.some((line) => /"phpunit\/phpunit"/.test(line)) === true ? "composer.json" : undefined;
  const from = config ?? asked;
  return from === undefined ? [] : [{ purpose: "test", command: "vendor/bin/phpunit", from }];
}

function rubyCommands(view: FolderView): FoundCommand[] {
  const rake = view.lines("Rakefile");
  const tool = view.has("Gemfile") ? "bundle exec " : "";
  const says = (pattern: RegExp) => rake?.some((line) => pattern.test(line)) === true;
  const test = (command: string, from: string): FoundCommand[] => [
    { purpose: "test", command: `${tool}${command}`, from },
  ];
  if (view.has(".rspec")) return test("rspec", ".rspec");
  if (says(/RSpec::Core::RakeTask/)) return test("rake spec", "Rakefile");
  if (says(/TestTask|task\s*\(?\s*:?["']?test\b/)) return test("rake test", "Rakefile");
  const hasSpecs = view.has("Gemfile") && view.some((path) => path.endsWith("_spec.rb"));
  return hasSpecs ? test("rspec", "*_spec.rb files; no other runner is named") : [];
}

function dotnetCommands(view: FolderView): FoundCommand[] {
  const project =
    view.named((name) => /\.slnx?$/.test(name)) ?? view.named((name) => /\.(?:cs|fs)proj$/.test(name));
  return project === undefined ? [] : buildAndTest(project, "dotnet build", "dotnet test");
}

function scriptCommands(view: FolderView): FoundCommand[] {
  if (view.folder !== "") return [];
  const script = ["test.sh", "run-tests.sh", "run_tests.sh", "tests.sh", "scripts/test.sh"].find((name) =>
    view.has(name),
  );
  return script === undefined ? [] : [{ purpose: "test", command: `sh ${script}`, from: script }];
}

function buildAndTest(from: string, build: string, test: string): FoundCommand[] {
  return [
    { purpose: "build", command: build, from },
    { purpose: "test", command: test, from },
  ];
}

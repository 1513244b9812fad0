/** What a project calls itself: name, one line about it, licence, each with the file that says so. */
import { baseNameOf } from "./languages.ts";
import { parsePackage, parseToml, tomlString } from "./project-manifests.ts";

export interface Stated {
  readonly text: string;
  readonly from: string;
}

export interface Identity {
  readonly name?: Stated;
  readonly description?: Stated;
  readonly licence?: Stated;
}

interface Claims {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly licence?: string | undefined;
}

/** From the manifests of one folder, the first that says something for each field. */
export function identityOf(manifests: ReadonlyMap<string, readonly string[]>, folder = ""): Identity {
  const prefix = folder === "" ? "" : `${folder}/`;
  const inFolder = [...manifests].filter(
    ([path]) => path.startsWith(prefix) && !path.slice(prefix.length).includes("/"),
  );
  const claims = inFolder.map(([path, lines]) => ({ from: path, said: claimsOf(baseNameOf(path), lines) }));
  const first = (field: keyof Claims): Stated | undefined => {
    const found = claims.find(({ said }) => said[field] !== undefined && said[field] !== "");
    return found === undefined ? undefined : { text: found.said[field] ?? "", from: found.from };
  };
  return { name: first("name"), description: first("description"), licence: first("licence") };
}

function claimsOf(name: string, lines: readonly string[]): Claims {
  switch (name) {
    // Both have the same fields for these.
    case "package.json":
    case "composer.json": {
      const manifest = parsePackage(lines);
      return { name: manifest?.name, description: manifest?.description, licence: manifest?.license };
    }
    case "Cargo.toml": {
      const toml = parseToml(lines);
      const section = toml.get("package") ?? toml.get("workspace.package");
      return tomlClaims(section);
    }
    case "pyproject.toml": {
      const toml = parseToml(lines);
      return tomlClaims(toml.get("project") ?? toml.get("tool.poetry"));
    }
    case "go.mod":
      return {
        name: lines
          .find((line) => line.startsWith("module "))
          ?.slice(7)
          .trim(),
      };
    case "pom.xml":
      return pomClaims(lines.join("\n"));
    case "CMakeLists.txt":
      return cmakeClaims(lines.join("\n"));
    default:
      if (/\.slnx?$/.test(name)) return { name: name.replace(/\.slnx?$/, "") };
      return name.endsWith(".gemspec") ? gemClaims(lines) : {};
  }
}

function tomlClaims(section: ReadonlyMap<string, string> | undefined): Claims {
  const licence = section?.get("license");
  return {
    name: tomlString(section?.get("name")),
    description: tomlString(section?.get("description")),
    licence: tomlString(licence) ?? /text\s*=\s*["']([^"'\n]+)["']/.exec(licence ?? "")?.[1],
  };
}

function pomClaims(xml: string): Claims {
  // What stands in these blocks speaks of others.
  const own = xml.replace(
    /<(parent|dependencies|dependencyManagement|build|profiles|developers|organization|scm)\b[\s\S]*?<\/\1>/g,
    "",
  );
  const licences = /<licenses>([\s\S]*?)<\/licenses>/.exec(own)?.[1];
  const field = (text: string, name: string) =>
    new RegExp(`<${name}>\\s*([^<]+?)\\s*</${name}>`).exec(text)?.[1]?.replace(/\s+/g, " ");
  const rest = own.replace(/<licenses>[\s\S]*?<\/licenses>/, "");
  return {
    name: plainValue(field(rest, "name")) ?? plainValue(field(rest, "artifactId")),
    description: plainValue(field(rest, "description")),
    licence: licences === undefined ? undefined : field(licences, "name"),
  };
}

/** Not one that is put together when it is used. */
function plainValue(value: string | undefined): string | undefined {
  return value?.includes("${") === true ? undefined : value;
}

function cmakeClaims(text: string): Claims {
  const inside = /^\s*project\s*\(([^)]*)\)/im.exec(text)?.[1];
  return {
    name: plainValue(/^\s*"?([^\s")]+)/.exec(inside ?? "")?.[1]),
    description: /\bDESCRIPTION\s+"([^"]+)"/.exec(inside ?? "")?.[1],
  };
}

function gemClaims(lines: readonly string[]): Claims {
  const field = (name: string) => {
    const pattern = new RegExp(`\\.${name}\\s*=\\s*(?:%q?\\{([^}]*)\\}|["']([^"'#]+)["'])`);
    const found = lines.map((line) => pattern.exec(line)).find((match) => match !== null);
    return found?.[1] ?? found?.[2];
  };
  return {
    name: field("name"),
    description: field("summary") ?? field("description"),
    licence: field("license"),
  };
}

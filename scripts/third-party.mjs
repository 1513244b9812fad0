// The notices of the packages whose code ends up in the bundle: their licences ask for it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function thirdPartyNotices(root, metafile) {
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const included = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  const folders = new Set(included.map(packageFolderOf).filter(Boolean));
  const notices = [...folders].sort().map((folder) => noticeOf(root, folder));
  return `The files in this folder contain code of the following packages.\n\n${notices.join("\n")}`;
}

function packageFolderOf(path) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

function noticeOf(root, folder) {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(root, folder, "package.json"), "utf8"),
  );
  const texts = readdirSync(join(root, folder))
    .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    .map((file) => readFileSync(join(root, folder, file), "utf8").trim());
  const body = texts.length > 0 ? texts.join("\n\n") : `By ${author?.name ?? author ?? "its contributors"}.`;
  return `${"-".repeat(72)}\n${name} ${version} (${license})\n\n${body}\n`;
}

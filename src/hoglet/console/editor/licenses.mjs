// Writes the licences of the packages inside the built editor beside it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const { inputs } = JSON.parse(readFileSync("node_modules/built.json", "utf8"));
const folders = Object.keys(inputs)
  .map((path) => path.match(/^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1])
  .filter(Boolean);
const texts = [...new Set(folders)].sort().map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  const file = [`LICENSE`, `LICENSE.md`].map((each) => `node_modules/${name}/${each}`).find(existsSync);
  if (!file) throw Error(`${name} has no licence file`);
  return `${name} ${version}\n\n${readFileSync(file, "utf8").trim()}\n`;
});
writeFileSync("../components/code_editor.licenses.txt", texts.join("\n---\n\n"));

// Bundles the pages into the package. With --check nothing is written: it fails if what is committed is not what the source gives.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const target = (name) => here(`../src/deniable/collector/dashboard/${name}`);

const made = await build({
  entryPoints: { app: here("src/main.ts"), answer: here("src/answer/main.ts"), client: here("src/client.ts") },
  outdir: here("out"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  charset: "utf8",
  write: false,
});
const files = new Map(made.outputFiles.map((file) => [file.path.split("/").pop(), file.text]));
const styles = await build({
  entryPoints: [here("src/app.css")],
  bundle: true,
  minify: true,
  target: "es2022",
  write: false,
});
files.set("app.css", styles.outputFiles[0].text);
for (const page of ["index.html", "answer.html"]) files.set(page, await readFile(here(`src/${page}`), "utf8"));
files.set("icon.svg", await readFile(here("../docs/assets/icon.svg"), "utf8"));

let stale = 0;
for (const [name, text] of files) {
  const found = await readFile(target(name), "utf8").catch(() => "");
  if (found === text) continue;
  if (process.argv.includes("--check")) {
    console.error(`${name} is not what its source gives. Run: make dashboard`);
    stale = 1;
  } else await writeFile(target(name), text);
}
for (const [name, text] of files) console.log(`${name} ${text.length.toLocaleString("en")} bytes`);
process.exit(stale);

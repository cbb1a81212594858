// Prints what a page downloads: the core, which reads specs and makes reports; the client, which also asks, keeps
// and sends; and what each mechanism adds. What the client loads only when somebody asks for the words of `explain` is
// counted apart, since bundlers put it into files of its own. Exits with 1 where one is larger than promised.

import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = fileURLToPath(new URL("../src", import.meta.url));
const PROMISED = {
  core: { minified: 8 * 1024, gzipped: 3.5 * 1024 },
  client: { minified: 17.5 * 1024, gzipped: 7.5 * 1024 },
  later: { minified: 2.5 * 1024, gzipped: 1.25 * 1024 },
};
const CORE = "DeniableError, Question, newId";
const COMMON = ["grr", "csr", "clh", "olh", "oue"];

/** The bytes of a bundle that imports the core and these mechanisms, minified and gzipped: at once, and `later`. */
export async function sizes(mechanisms, extra = "", core = CORE) {
  const imports = mechanisms.map((name) => `export { ${name} } from "./mechanisms/${name}.js";`);
  const done = await build({
    stdin: {
      contents: `export { ${core} } from "./index.js"; ${imports.join(" ")} ${extra}`,
      resolveDir: folder,
      loader: "ts",
    },
    bundle: true,
    splitting: core === "Client",
    metafile: true,
    outdir: folder,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  const { outputs } = done.metafile;
  const at = new Set();
  const load = (path) => {
    at.add(path);
    for (const each of outputs[path].imports)
      if (each.kind === "import-statement" && !at.has(each.path)) load(each.path);
  };
  load(Object.keys(outputs).find((path) => outputs[path].entryPoint === "<stdin>"));
  const found = { minified: 0, gzipped: 0, later: { minified: 0, gzipped: 0 } };
  for (const { path, contents } of done.outputFiles) {
    const name = Object.keys(outputs).find((each) => path.endsWith(`/${each.split("/").at(-1)}`));
    const total = at.has(name) ? found : found.later;
    total.minified += contents.length;
    total.gzipped += gzipSync(contents, { level: 9 }).length;
  }
  return found;
}

/** Whether the core, the client, or what it loads later, is larger than promised. */
export function outgrown(what, { minified, gzipped }) {
  return minified > PROMISED[what].minified || gzipped > PROMISED[what].gzipped;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { readdirSync } = await import("node:fs");
  const names = readdirSync(`${folder}/mechanisms`).map((file) => file.replace(".ts", ""));
  const line = (what, { minified, gzipped }) =>
    console.log(`${what.padEnd(34)} ${String(minified).padStart(7)} ${String(gzipped).padStart(8)}`);
  console.log(`${"bytes".padEnd(34)} minified  gzipped`);
  const core = await sizes([]);
  line("core", core);
  const client = await sizes([], "", "Client");
  line("client", client);
  line("client and grr", await sizes(["grr"], "", "Client"));
  line("client, loaded later", client.later);
  line(`core and ${COMMON.join(" ")}`, await sizes(COMMON));
  line("core, heavy hitters and orr", await sizes(["orr"], 'export * from "./heavy-hitters.js";'));
  line("core and all mechanisms", await sizes(names));
  console.log("\nadded to the core by");
  for (const name of names) {
    const own = await sizes([name]);
    line(`  ${name}`, { minified: own.minified - core.minified, gzipped: own.gzipped - core.gzipped });
  }
  for (const [what, size] of Object.entries({ core, client, later: client.later }))
    if (outgrown(what, size)) {
      const { minified, gzipped } = PROMISED[what];
      console.error(`\nthe ${what} is larger than ${minified} bytes minified and ${gzipped} gzipped`);
      process.exitCode = 1;
    }
}

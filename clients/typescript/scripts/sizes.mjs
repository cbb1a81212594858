// Prints what a page downloads: the core, which reads specs and makes reports; the client, which also asks, keeps
// and sends; and what each mechanism adds. Exits with 1 where one of the first two is larger than promised.

import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = fileURLToPath(new URL("../src", import.meta.url));
const PROMISED = {
  core: { minified: 8 * 1024, gzipped: 3.5 * 1024 },
  client: { minified: 17 * 1024, gzipped: 7.4 * 1024 },
};
const CORE = "DeniableError, Question, newId";
const COMMON = ["grr", "csr", "clh", "olh", "oue"];

/** The bytes of a bundle that imports the core and these mechanisms, minified and gzipped. */
export async function sizes(mechanisms, extra = "", core = CORE) {
  const imports = mechanisms.map((name) => `export { ${name} } from "./mechanisms/${name}.js";`);
  const done = await build({
    stdin: {
      contents: `export { ${core} } from "./index.js"; ${imports.join(" ")} ${extra}`,
      resolveDir: folder,
      loader: "ts",
    },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  const bytes = done.outputFiles[0].contents;
  return { minified: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length };
}

/** Whether the core or the client is larger than promised. */
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
  line(`core and ${COMMON.join(" ")}`, await sizes(COMMON));
  line("core, heavy hitters and orr", await sizes(["orr"], 'export * from "./heavy-hitters.js";'));
  line("core and all mechanisms", await sizes(names));
  console.log("\nadded to the core by");
  for (const name of names) {
    const own = await sizes([name]);
    line(`  ${name}`, { minified: own.minified - core.minified, gzipped: own.gzipped - core.gzipped });
  }
  for (const [what, size] of Object.entries({ core, client }))
    if (outgrown(what, size)) {
      const { minified, gzipped } = PROMISED[what];
      console.error(`\nthe ${what} is larger than ${minified} bytes minified and ${gzipped} gzipped`);
      process.exitCode = 1;
    }
}

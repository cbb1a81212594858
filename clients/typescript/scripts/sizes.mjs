// Prints what a page downloads: the core, and what each mechanism adds to it, minified and gzipped.
//
// Exits with 1 where the core is larger than promised.

import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = fileURLToPath(new URL("../src", import.meta.url));
const PROMISED = { minified: 12 * 1024, gzipped: 5 * 1024 }; // of the core
const COMMON = ["grr", "csr", "clh", "olh", "oue"];

/** The bytes of a bundle that imports the core and these mechanisms, minified and gzipped. */
export async function sizes(mechanisms, extra = "") {
  const imports = mechanisms.map((name) => `export { ${name} } from "./mechanisms/${name}.js";`);
  const done = await build({
    stdin: { contents: `export * from "./index.js"; ${imports.join(" ")} ${extra}`, resolveDir: folder, loader: "ts" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  const bytes = done.outputFiles[0].contents;
  return { minified: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length };
}

/** Whether a core is larger than promised. */
export function outgrown({ minified, gzipped }) {
  return minified > PROMISED.minified || gzipped > PROMISED.gzipped;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { readdirSync } = await import("node:fs");
  const names = readdirSync(`${folder}/mechanisms`).map((file) => file.replace(".ts", ""));
  const line = (what, { minified, gzipped }) =>
    console.log(`${what.padEnd(34)} ${String(minified).padStart(7)} ${String(gzipped).padStart(8)}`);
  console.log(`${"bytes".padEnd(34)} minified  gzipped`);
  const core = await sizes([]);
  line("core", core);
  line(`core and ${COMMON.join(" ")}`, await sizes(COMMON));
  line("core, heavy hitters and orr", await sizes(["orr"], 'export * from "./heavy-hitters.js";'));
  line("core and all mechanisms", await sizes(names));
  console.log("\nadded to the core by");
  for (const name of names) {
    const own = await sizes([name]);
    line(`  ${name}`, { minified: own.minified - core.minified, gzipped: own.gzipped - core.gzipped });
  }
  if (outgrown(core)) {
    console.error(`\nlarger than ${PROMISED.minified} bytes minified and ${PROMISED.gzipped} gzipped`);
    process.exit(1);
  }
}

"""The TypeScript package as a developer installs it: size, exports, lock file, and what its README shows."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import deniable as dn
from tests import ROOT
from tests.clients.typescript import FOLDER, TOOLS, Client, node
from tests.docs.pages import DOCS, blocks

PACKAGE = json.loads((FOLDER / "package.json").read_text())
README = (FOLDER / "README.md").read_text()
EXAMPLES = [
    *re.findall(r"```js\n(.*?)```", README, re.DOTALL),
    *(
        block.text + "console.log(payload.length)"
        for block in blocks(DOCS / "clients.md")
        if block.language == "typescript"
    ),
]


def run(*arguments: str, folder: Path = FOLDER) -> str:
    done = subprocess.run([node(), *arguments], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def installed(client: Client, folder: Path) -> Path:
    """A project in which the package is installed."""
    package = folder / "node_modules" / "deniable"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps(PACKAGE))
    (package / "dist").symlink_to(client.built)
    return folder


def test_it_needs_no_other_package_to_run() -> None:
    assert PACKAGE.keys() & {"dependencies", "peerDependencies", "optionalDependencies"} == set()
    sources = [path.read_text() for path in sorted((FOLDER / "src").rglob("*.ts"))]
    imported = {name for text in sources for name in re.findall(r'from "([^"]+)"', text)}
    assert all(name.startswith((".", "./")) for name in imported)


def test_its_sources_are_short_files_of_short_lines() -> None:
    for path in sorted((FOLDER / "src").rglob("*.ts")):
        lines = path.read_text().splitlines()
        assert len(lines) < 250, path
        assert max(map(len, lines)) <= 120, path
        assert not re.search(r"TODO|@ts-|(as|:) any[];,)=]", path.read_text()), path


def test_the_lock_file_says_what_to_install_but_not_from_where() -> None:
    text = (FOLDER / "package-lock.json").read_text()
    assert "resolved" not in text
    assert "http" not in text
    locked = json.loads(text)["packages"]
    assert locked[""]["devDependencies"] == PACKAGE["devDependencies"]
    assert all("integrity" in each for name, each in locked.items() if name)
    assert "omit-lockfile-registry-resolved=true" in (FOLDER / ".npmrc").read_text().split()


def test_the_versions_are_those_of_the_python_package() -> None:
    assert PACKAGE["version"] == dn.__version__


def test_every_mechanism_is_exported_by_its_name(client: Client, tmp_path: Path) -> None:
    names = dn.list_mechanisms()
    assert sorted(path.stem for path in (FOLDER / "src" / "mechanisms").glob("*.ts")) == names
    program = [f'import {{ {name} }} from "deniable/{name}"; console.log({name}.name);' for name in names]
    program.append('import { all } from "deniable/all"; console.log(all.length);')
    (tmp_path / "names.mjs").write_text("\n".join(program))
    assert run("names.mjs", folder=installed(client, tmp_path)).split() == [*names, str(len(names))]


@pytest.mark.parametrize(("value", "right"), [("question.fingerprint", True), ("question.nothing", False)])
def test_a_typed_program_finds_the_types(value: str, right: bool, client: Client, tmp_path: Path) -> None:
    program = f"""
    import {{ Question, type Mechanism }} from "deniable";
    import {{ clh }} from "deniable/clh";
    import {{ HeavyHitters }} from "deniable/heavy-hitters";
    const mechanisms: readonly Mechanism[] = [clh];
    const question = await Question.read("", {{ mechanisms }});
    export const text: string = {value};
    export const payload: Uint8Array = await question.privatize(1);
    export const level: number = (await (await HeavyHitters.read("", {{ mechanisms }})).privatize("a")).level;
    """
    (tmp_path / "program.ts").write_text(program)
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"]
    command = [str(TOOLS / "tsc"), *options, "program.ts"]
    folder = installed(client, tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert (done.returncode == 0) is right, done.stdout
    assert ("nothing" in done.stdout) is not right


def test_sizes_are_as_promised_and_what_is_not_imported_is_left_out() -> None:
    rows = {
        match[1].strip(): int(match[2])
        for line in run("scripts/sizes.mjs").splitlines()
        if (match := re.fullmatch(r"(.+?) +(\d+) +(\d+)", line))
    }
    for name in dn.list_mechanisms():
        assert rows["core"] + rows[name] < rows["core and all mechanisms"] / 2
    assert rows["grr"] < rows["csr"] < rows["orappor"]


def test_a_larger_core_than_promised_is_noticed() -> None:
    program = """
    import { outgrown } from "./scripts/sizes.mjs";
    const pairs = [[1, 1], [8192, 3584], [8193, 1], [1, 3585]];
    console.log(pairs.map(([minified, gzipped]) => outgrown("core", { minified, gzipped })).join());
    """
    assert run("--input-type=module", "--eval", program).strip() == "false,false,true,true"


@pytest.mark.parametrize("place", range(len(EXAMPLES)))
def test_the_examples_of_the_readme_and_of_the_guide_run(place: int, client: Client, tmp_path: Path) -> None:
    m = dn.mechanism("grr", labels=["walk", "bus", "car"], epsilon=1.0)
    hashed = dn.mechanism("clh", k=60, epsilon=1.5)
    hitters = dn.HeavyHitters.new(epsilon=4.0, max_bytes=9)
    values = {"SPEC": m.spec.to_json(), "FINGERPRINT": m.fingerprint, "HASHED": hashed.spec.to_json()}
    values |= {"spec": values["SPEC"], "fingerprint": values["FINGERPRINT"], "DOCUMENT": hitters.to_json()}
    given = [f"const {name} = {json.dumps(value)};" for name, value in values.items()]
    example = re.sub(r"^import .*$", "", EXAMPLES[place], flags=re.MULTILINE)
    imports = re.findall(r"^import .*$", EXAMPLES[place], flags=re.MULTILINE)
    (tmp_path / "example.mjs").write_text("\n".join([*imports, *given, example]))
    sent = run("example.mjs", folder=installed(client, tmp_path)).split()
    assert sent, "an example prints what it makes"
    if place == 0:
        assert m.decode(bytes.fromhex(sent[0])).payload in range(3)


def test_the_readme_states_the_sizes_that_are_measured() -> None:
    rows = dict(
        re.findall(r"^(core|client|core and all mechanisms) +(\d+) +\d+$", run("scripts/sizes.mjs"), re.MULTILINE)
    )
    stated = dict(re.findall(r"\| (core|client|core and all mechanisms) \| ([0-9.]+) KB", README))
    assert stated.keys() == rows.keys()
    for what, size in rows.items():
        assert float(stated[what]) == pytest.approx(int(size) / 1024, rel=0.03)


def test_the_readme_lists_every_code() -> None:
    section = README.split("## When something is wrong")[1].split("\n## ")[0]
    stated = re.findall(r"^\| `([a-z]+)` \|", section, re.MULTILINE)
    assert stated == re.findall(r'^  \| "([a-z]+)"', (FOLDER / "src/core/errors.ts").read_text(), re.MULTILINE)


def test_make_installs_the_tools_that_the_lock_file_names() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert "npm ci --ignore-scripts" in makefile
    for target in ("test", "check"):
        assert re.search(rf"^{target}:.*\bclients\b", makefile, re.MULTILINE)


def test_a_bundle_runs_where_there_is_nothing_but_what_browsers_and_workers_have() -> None:
    m = dn.mechanism("oue", labels=["walk", "bus", "car"], epsilon=1.0)
    program = f"""
    import {{ build }} from "esbuild";
    import {{ createContext, runInContext }} from "node:vm";
    const contents = 'export * from "./index.js"; export {{ oue }} from "./mechanisms/oue.js";';
    const stdin = {{ contents, resolveDir: "src", loader: "ts" }};
    const options = {{ bundle: true, minify: true, format: "iife", globalName: "deniable", write: false }};
    const made = await build({{ stdin, ...options }});
    const page = createContext({{ crypto, TextEncoder, TextDecoder, spec: {json.dumps(m.spec.to_json())} }});
    const answer = "deniable.Question.read(spec, {{ mechanisms: [deniable.oue] }}).then((q) => q.privatize('bus'))";
    console.log(Buffer.from(await runInContext(`${{made.outputFiles[0].text}}; ${{answer}}`, page)).toString("hex"));
    """
    sent = bytes.fromhex(run("--input-type=module", "--eval", program).strip())
    assert m.encode(m.decode(sent)) == sent

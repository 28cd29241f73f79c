#!/usr/bin/env python3
"""Whether `javac` in Maven's place leaves the class files that a build from nothing makes.

    benches/recompile.py [--ralph PATH] [--into DIR] [--project P] [--commits N] [--seed S]

Commits random edits of Java files (constants, methods, nested classes, comments, new files; one to three a commit), runs
`ralph gate` on a class without a test after each, and in the end compares every class file of the checkout that ralph kept
with those of a gate that finds none. The project is one that `benches/gate.sh --project P --into DIR` has made. The exit code is
0 if no class file differs, and `javac` has compiled most of the commits.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

CONSTANT = re.compile(r'(static final (?:int|long|String) \w+ = )(\d+|"[^"\\]*")(?=;)')
CLASS = re.compile(r"^(?:public )?(?:abstract |final )*class \w+", re.M)


class Project:
    def __init__(self, ralph, workspace, name):
        self.ralph, self.workspace, self.name = ralph, workspace, name
        self.home, self.cache = workspace / "src" / name, workspace / "cache"
        self.list, self.untested = workspace / "changed", self.home / "src/main/java/untested/Untested.java"

    def git(self, *words):
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
        subprocess.run(["git", "-C", self.home, *identity, *words], check=True, stdout=subprocess.DEVNULL)

    def sources(self, side):
        return sorted(p for p in (self.home / "src" / side / "java").rglob("*.java") if not p.stem.endswith("-info"))

    def gate(self):
        """How the module was compiled, by the trace."""
        self.list.write_text(f"{self.name}/{self.untested.relative_to(self.home)}\n")
        env = dict(os.environ, XDG_CACHE_HOME=str(self.cache))
        command = [self.ralph, "gate", "PITEST", "--diff", self.list, "--json"]
        run = subprocess.run(command, cwd=self.workspace, env=env, capture_output=True, text=True)
        report = json.loads(run.stdout)["report"]
        if report["verdict"] == "error":
            sys.exit(report["why"])
        phases = report["trace"]["phases"]
        return next(phase["note"] for phase in phases if phase["name"] in ("compile", "resolve"))

    def classes(self):
        (tree,) = self.cache.glob(f"ralph/sites/*/tree/src/{self.name}/target")
        files = [p for side in ("classes", "test-classes") for p in (tree / side).rglob("*.class")]
        return {str(p.relative_to(tree)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def edit(source, chance):
    """Changes a source, or writes a new one beside it; the kind of the edit."""
    text = source.read_text(encoding="utf-8")
    constants, number = list(CONSTANT.finditer(text)), chance.randrange(10**6)
    kinds = ["comment", "file"] + ["constant"] * 2 * bool(constants) + ["method", "nested"] * bool(CLASS.search(text))
    kind, end = chance.choice(kinds), text.rstrip().rfind("}")
    if kind == "comment":
        text += f"// {number}\n"
    elif kind == "constant":
        found = chance.choice(constants)
        value = found[2][:-1] + 'x"' if found[2].startswith('"') else str(int(found[2]) + 1)
        text = text[: found.start(2)] + value + text[found.end(2) :]
    elif kind == "method":
        text = f"{text[:end]}\n    public static int added{number}() {{ return {number}; }}\n}}\n"
    elif kind == "nested":
        text = f"{text[:end]}\n    static class Added{number} {{ Runnable run = () -> System.out.println({number}); }}\n}}\n"
    else:
        package = re.search(r"^package ([\w.]+);", text, re.M)
        source = source.with_name(f"Fresh{number}.java")
        text = f"{package[0] if package else ''}\nclass Fresh{number} {{ int number = {number}; }}\n"
    source.write_text(text, encoding="utf-8")
    return kind


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--ralph", type=pathlib.Path, default=root / "target/release/ralph")
    words.add_argument("--into", type=pathlib.Path, default=root / "target/bench")
    words.add_argument("--project", default="cli")
    words.add_argument("--commits", type=int, default=20)
    words.add_argument("--seed", type=int, default=1)
    asked = words.parse_args()
    chance = random.Random(asked.seed)
    with tempfile.TemporaryDirectory(prefix="ralph-recompile-") as folder:
        workspace = pathlib.Path(folder) / "workspace"
        shutil.copytree(asked.into / asked.project / "workspace", workspace, symlinks=True)
        project = Project(asked.ralph.resolve(), workspace, f"commons-{asked.project}")
        project.untested.parent.mkdir()
        project.untested.write_text("package untested;\n\nclass Untested { int one() { return 1; } }\n")
        project.git("add", "--all")
        project.git("commit", "--quiet", "--message", "a class without a test")
        print("first:", project.gate(), flush=True)
        how = collections.Counter()
        for commit in range(asked.commits):
            sides = [chance.choice(["main", "test", "test"]) for _ in range(chance.choice([1, 1, 2, 3]))]
            edits = [f"{side} {edit(chance.choice(project.sources(side)), chance)}" for side in sides]
            project.git("add", "--all")
            project.git("commit", "--quiet", "--message", ", ".join(edits))
            note = project.gate()
            how[note] += 1
            print(f"{commit + 1}: {', '.join(edits)}: {note}", flush=True)
        kept = project.classes()
        shutil.rmtree(project.cache / "ralph/sites")
        print("from nothing:", project.gate())
        whole = project.classes()
    differ = sorted(file for file in kept.keys() | whole.keys() if kept.get(file) != whole.get(file))
    by_javac = sum(count for note, count in how.items() if note.startswith("javac compiled"))
    print(f"{asked.commits} commits, {by_javac} compiled by javac; of {len(whole)} class files {len(differ)} differ")
    print("\n".join(differ))
    return int(bool(differ) or 2 * by_javac <= asked.commits)


if __name__ == "__main__":
    sys.exit(main())

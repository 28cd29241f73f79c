#!/usr/bin/env python3
"""What another ralph reads otherwise in a folder of task files, counted by kind, each line shown.

usage: readings.py OLD NEW FOLDER    two builds of ralph, a folder of .md files; the counts stand at the end
"""

import collections
import json
import pathlib
import subprocess
import sys

FACTS = ("id", "id_is_used_twice", "stage", "mark", "optional", "checkpoint", "struck", "approval", "parent", "group",
         "text", "requirements")


def read(ralph, path):
    """Each line of a file as `ralph check --explain` reads it."""
    call = [ralph, "check", "--tasks", str(path), "--explain", "--json"]
    done = subprocess.run(call, capture_output=True, text=True, cwd="/", check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{path}: {done.stderr}")
    # Unicode's line separators may stand inside of a string.
    facts = [json.loads(line) for line in done.stdout.split("\n")[1:] if line]
    return {fact["line"]: fact for fact in facts}


def kinds(old, new):
    """Which facts of a line differ, as words."""
    if old["read"] != new["read"]:
        yield f"read: {old['read']} -> {new['read']}"
        return
    for fact in FACTS:
        before, after = old.get(fact), new.get(fact)
        if before != after:
            shown = f"{before} -> {after}" if isinstance(after or before, bool) else \
                "gone" if after is None else "new" if before is None else "other"
            yield f"{fact}: {shown}"
    before, after = collections.Counter(old.get("rules", [])), collections.Counter(new.get("rules", []))
    yield from (f"remark: {rule} new" for rule in after - before)
    yield from (f"remark: {rule} gone" for rule in before - after)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    old, new, folder = sys.argv[1:]
    paths = sorted(path.resolve() for path in pathlib.Path(folder).rglob("*.md"))
    lines, files, counts, tasks = 0, set(), collections.Counter(), 0
    for path in paths:
        before, after = read(old, path), read(new, path)
        if before.keys() != after.keys():
            sys.exit(f"{path}: other lines")
        text = path.read_bytes().decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        tasks += sum(fact["read"] == "task" for fact in after.values())
        for number, fact in after.items():
            found = list(kinds(before[number], fact))
            if found:
                lines += 1
                files.add(path)
                counts.update(found)
                print(f"{path.name}:{number}: {'; '.join(found)}\n    {text[number - 1][:150]}")
    print(f"\n{len(paths)} files, {tasks} boxes; {lines} lines in {len(files)} files are read otherwise")
    for kind, count in counts.most_common():
        print(f"{count:6} {kind}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Grows the journal of a small finished workspace to many iterations, so that replay can be measured.

    benches/grow.py WORKSPACE ITERATIONS [TASKS]

WORKSPACE holds a finished run of three plain tasks in 10 packages (`loop.sh` makes such). Its second
iteration is written again and again for the tasks 1 to TASKS (default: as many as iterations); when all are
done, a person opens them again. The chain of hashes is made anew, tasks.md to match. What comes out is for
reading (`status`, `next`): the commits of the added iterations were never made.
"""
import hashlib
import json
import pathlib
import sys

workspace, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
tasks = int(sys.argv[3]) if len(sys.argv) > 3 else count
assert count % tasks == 0, "ITERATIONS must be a multiple of TASKS"
journal = workspace / ".ralph/state/journal.jsonl"
bodies = [json.loads(line)["r"] for line in journal.read_text().splitlines()]
surveys = [at for at, body in enumerate(bodies) if body["e"]["kind"] == "surveyed"]
first, second, third = surveys[:3]
start, turn, end = bodies[:second], bodies[second:third], bodies[-1]


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


rows = start[first]["e"]["tasks"]["rows"]
row = dump(rows[1])
start[first]["e"]["tasks"]["rows"] = [
    json.loads(row.replace('"2"', f'"{n}"').replace("line 2", f"line {n}").replace(f'"line":{rows[1]["line"]}', f'"line":{n + 2}'))
    for n in range(1, tasks + 1)
]
opened = [[{"family": str(n), "stage": "IMPLEMENT"}, " "] for n in range(1, tasks + 1)]
turn = dump(turn)
head, seq = "0" * 64, 0
with journal.open("w") as out:

    def write(body):
        global head, seq
        seq += 1
        body["seq"] = seq
        text = dump(body)
        own = hashlib.sha256((head + text).encode()).hexdigest()
        out.write(f'{{"h":"{own}","p":"{head}","r":{text}}}\n')
        head = own

    for body in start:
        write(body)
    for n in range(2, count + 1):
        for body in json.loads(turn.replace('"family":"2"', f'"family":"{(n - 1) % tasks + 1}"')):
            if n % tasks == 1 and body["e"]["kind"] == "surveyed":
                body["e"]["tasks"]["marks"] = opened
            write(body)
    write(bodies[-2])
    write(end)
lines = "".join(f"- [x] {n}. Write line {n}\n" for n in range(1, tasks + 1))
(workspace / "tasks.md").write_text(f"# Tasks\n\n{lines}")
print(f"{count} iterations, {seq} records, {journal.stat().st_size} bytes")

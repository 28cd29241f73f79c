#!/usr/bin/env python3
"""Measures `ralph replay` on a journal of many records: benches/replay.py RALPH [RECORDS]

Makes a workspace with a package and an agent that commits nothing, runs one iteration, and repeats its records,
numbered and chained anew, with their entries in progress.txt. The replay must be equal.
"""
import hashlib, json, os, resource, subprocess, sys, tempfile, time

ralph, wanted = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
root = tempfile.mkdtemp(prefix="ralph-replay-")
run = lambda *argv, **more: subprocess.run(argv, cwd=root, capture_output=True, text=True, **more)
write = lambda path, text: (os.makedirs(os.path.dirname(f"{root}/{path}"), exist_ok=True), open(f"{root}/{path}", "w").write(text))
write("src/app/README.md", "a package\n")
for argv in (["init", "-q"], ["add", "-A"], ["-c", "user.name=T", "-c", "user.email=t@e", "commit", "-qm", "start"]):
    run("git", "-C", "src/app", *argv, check=True)
write("tasks.md", "- [ ] 1. One\n")
write(".ralph/config.yaml", "agents: {default: {command: ['true']}}\nlimits: {attempts: 1000}\n")
began = run(ralph, "run", "--once")
assert os.path.exists(f"{root}/.ralph/state/journal.jsonl"), began.stderr
lines = open(f"{root}/.ralph/state/journal.jsonl").read().splitlines()
records = [json.loads(line)["r"] for line in lines]
start = records[0]["e"]["policy"]
start.update(attempts=1_000_000, iterations=None, idle_iterations=4_000_000_000)
kinds = [record["e"]["kind"] for record in records]
first = kinds.index("surveyed")
last = kinds.index("progress-appended") + 1
head, seq, journal, progress = "0" * 64, 0, [], []
entry = open(f"{root}/progress.txt").read().splitlines()
while seq < wanted:
    for at, record in enumerate(records[:last] if seq == 0 else records[first:last]):
        seq += 1
        record = json.loads(json.dumps(record))
        if seq > last and record["e"]["kind"] == "surveyed":
            record["e"]["tasks"].pop("rows", None)
        body = json.dumps(dict(record, seq=seq), separators=(",", ":"), ensure_ascii=False)
        own = hashlib.sha256((head + body).encode()).hexdigest()
        journal.append(f'{{"h":"{own}","p":"{head}","r":{body}}}\n')
        head = own
        if record["e"]["kind"] == "observed":
            number = (seq - first) // (last - first) + 1
            heading = entry[0].split(" iteration ")[0] + f" iteration {number} · 1. · {own[:8]}"
            rest = [line.replace("of 1000)", "of 1000000)").replace("attempt 1 of", f"attempt {number} of").replace("iter-1/", f"iter-{number}/") for line in entry[1:]]
            progress.append("\n".join([heading, *rest]) + "\n")
write(".ralph/state/journal.jsonl", "".join(journal))
write("progress.txt", "".join(progress))
cpu = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
watch, before = time.monotonic(), cpu()
done = run(ralph, "replay")
took, worked = time.monotonic() - watch, cpu() - before
print(f"{seq} records, {len(''.join(journal)) >> 20} MiB: {took:.2f} s, {worked:.2f} s of processor time, exit code {done.returncode}")
print("\n".join((done.stderr + done.stdout).splitlines()[-6:]))

#!/usr/bin/env python3
"""Counts and tables for gate.sh, history.sh, tiers.sh and shapes.sh. Each command prints; see the functions' first lines.

Both gates are judged by one rule: killed = KILLED + TIMED_OUT, survived = SURVIVED + NO_COVERAGE, PASS when
100 * killed >= 70 * (killed + survived); the other ends of a mutant count nowhere. Without such a mutant
there is no verdict (`NONE`).
"""
import json
import math
import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict

THRESHOLD = 70
KILLED, SURVIVED = {"KILLED", "TIMED_OUT"}, {"SURVIVED", "NO_COVERAGE"}


def verdict(killed, total):
    if total == 0:
        return "NONE"
    return "PASS" if 100 * killed >= THRESHOLD * total else "FAIL"


def mutants(report, name):
    """The mutants of a class and of those nested in it: (line, status)."""
    for mutation in ElementTree.parse(report).getroot().iter("mutation"):
        mutated = mutation.findtext("mutatedClass", "")
        if mutated == name or mutated.startswith(name + "$"):
            yield int(mutation.findtext("lineNumber", "0")), mutation.get("status")


def count_literal(report, name, lines=""):
    """Counts a report of PIT's: `verdict killed total`; only mutants on these lines, when some are given."""
    only = {int(line) for line in lines.split(",") if line}
    ends = [status for line, status in mutants(report, name) if not only or line in only]
    killed = sum(status in KILLED for status in ends)
    total = killed + sum(status in SURVIVED for status in ends)
    print(verdict(killed, total), killed, total)


def count_ralph(report, name):
    """Counts the answer of `ralph gate --json`: `verdict killed total`, and ralph's own verdict."""
    report = json.load(open(report, encoding="utf-8"))["report"]
    killed = total = 0
    for score in report.get("classes", []):
        if score["class"] == name:
            tally = score["tally"]
            killed = tally["killed"] + tally["timed_out"]
            total = killed + tally["survived"] + tally["no_coverage"]
    own = report["verdict"].upper()
    said = verdict(killed, total) if own in ("PASS", "FAIL") else ("NONE" if own == "SKIP" else own)
    print(said, killed, total, own)


def red(log, known):
    """The test classes that PIT's log names as red, added to those that are known: `a,b`."""
    text = open(log, encoding="utf-8", errors="replace").read()
    found = set(filter(None, known.split(",")))
    found.update(re.findall(r"Description \[testClass=([\w.$]+)", text))
    print(",".join(sorted(found)))


def add_pit(pom, pit, junit5):
    """Adds pitest-maven to build/plugins of a POM, with its JUnit 5 plugin where the project uses JUnit 5."""
    text = open(pom, encoding="utf-8").read()
    uses5 = "org.junit.jupiter" in text or "junit-vintage" in text or "junit-platform" in text
    dependency = (
        "<dependencies><dependency><groupId>org.pitest</groupId><artifactId>pitest-junit5-plugin</artifactId>"
        f"<version>{junit5}</version></dependency></dependencies>"
        if uses5
        else ""
    )
    plugin = (
        "<plugin><groupId>org.pitest</groupId><artifactId>pitest-maven</artifactId>"
        f"<version>{pit}</version>{dependency}</plugin>"
    )
    # The project's own build comes before its profiles and its reporting.
    head = re.split(r"<profiles>", text, maxsplit=1)[0]
    managed = re.search(r"<build>.*?</pluginManagement>", head, re.S)
    begin = managed.end() if managed else (re.search(r"<build>", head) or sys.exit(f"{pom} has no <build>")).end()
    end = head.index("</build>", begin)
    at = head.find("<plugins>", begin, end)
    if at >= 0:
        at += len("<plugins>")
        text = text[:at] + plugin + text[at:]
    else:
        text = text[:begin] + f"<plugins>{plugin}</plugins>" + text[begin:]
    open(pom, "w", encoding="utf-8").write(text)


def edit(source, report, name, number):
    """Puts a comment behind so many lines that hold mutants, in the middle of the class; prints the lines."""
    text = open(source, encoding="utf-8").read().split("\n")
    fit = [n for n in sorted({line for line, _ in mutants(report, name)}) if 0 < n <= len(text)]
    fit = [n for n in fit if '"""' not in text[n - 1] and not text[n - 1].rstrip().endswith("\\")]
    number = min(int(number), len(fit))
    begin = (len(fit) - number) // 2
    chosen = fit[begin : begin + number]
    for n in chosen:
        text[n - 1] += " // changed"
    open(source, "w", encoding="utf-8").write("\n".join(text))
    print(",".join(map(str, chosen)))


def weaken(source, part):
    """Deletes the assertions of a Java file that begin a line: every second one (half), or each (all)."""
    text = open(source, encoding="utf-8").read()
    kept, at, seen, number = [], 0, 0, 0
    for found in re.finditer(r"(?m)^[ \t]*((?:Assertions?\.)?(?:assert\w+|fail))\(", text):
        # One in the arguments of another is a part of that.
        if found.start() < seen:
            continue
        end, depth, quoted = found.end(), 1, ""
        while depth or text[end] != ";":
            char = text[end]
            if quoted:
                end += char == "\\"
                quoted = "" if char == quoted else quoted
            elif char in "\"'":
                quoted = char
            else:
                depth += (char in "({[") - (char in ")}]")
            end += 1
        seen, number = end, number + 1
        if part == "all" or number % 2 == 0:
            kept.append(text[at : found.start(1)])
            at = end
    open(source, "w", encoding="utf-8").write("".join(kept) + text[at:])


def rows(path, binary):
    """Rows of a results file: those of the literal goal, and those of this binary."""
    for line in open(path, encoding="utf-8"):
        row = dict(zip("mode project name side run binary verdict killed total seconds note".split(), line.rstrip("\n").split("\t")))
        if row["binary"] in ("-", binary):
            yield row


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def score(row):
    return f"{row['verdict']} {row['killed']}/{row['total']}"


def table(path, binary, mode, wanted=""):
    """The table of gate.sh in Markdown, the geometric means, and every class that differs or varies."""
    only = {tuple(one.split("/", 1)) for one in wanted.split(",") if one}
    literal, ralph, by_lines = {}, defaultdict(list), {}
    for row in rows(path, binary):
        key = (row["project"], row["name"])
        if only and key not in only:
            continue
        if row["side"] == "literal":
            literal[key] = row
        elif row["side"] == "literal-lines" and mode.startswith("lines"):
            by_lines[key] = row
        elif row["side"] == "ralph" and row["mode"] == mode:
            ralph[key].append(row)
    print("| class | mutants | literal | ralph | literal s | ralph s | ratio |")
    print("|---|---|---|---|---|---|---|")
    ratios, verdicts, scores, waver, without = defaultdict(list), [], [], [], []
    for key in sorted(ralph):
        if key not in literal:
            continue
        old, runs = literal[key], ralph[key]
        judged = by_lines.get(key, old)
        new = runs[0]
        times = sorted(float(run["seconds"]) for run in runs)
        took = times[len(times) // 2]
        against = float(judged["seconds"])
        ratio = took / against
        name = f"{key[0]}/{key[1].rsplit('.', 1)[-1]}"
        print(f"| {name} | {judged['total']} | {score(judged)} | {score(new)} | {against:.1f} | {took:.1f} | {ratio:.2f} |")
        if "NONE" in (judged["verdict"], new["verdict"]) or "ERROR" in (judged["verdict"], new["verdict"]):
            without.append(f"{name}: literal {score(judged)}, ralph {score(new)} ({old['note']}; {new['note']})")
            if judged["verdict"] == new["verdict"] == "NONE":
                continue
        else:
            ratios[key[0]].append(ratio)
        if judged["verdict"] != new["verdict"]:
            verdicts.append(f"{name}: literal {score(judged)}, ralph {score(new)}")
        elif (judged["killed"], judged["total"]) != (new["killed"], new["total"]):
            scores.append(f"{name}: literal {score(judged)}, ralph {score(new)}")
        seen = sorted({score(run) for run in runs})
        if len(seen) > 1:
            waver.append(f"{name}: {', '.join(seen)} in {len(runs)} runs")
    print()
    every = [ratio for project in ratios.values() for ratio in project]
    for title, some in [*sorted(ratios.items()), ("together", every)]:
        if some:
            print(f"- {title}: {len(some)} classes with a verdict on both sides, geometric mean of ratios {mean(some):.3f}")
    for title, names in [
        ("verdicts that differ", verdicts),
        ("same verdict, other counts (a PASS of the target's own tests asks no others)", scores),
        ("scores that waver from run to run of ralph", waver),
        ("no verdict on one side or both, left out of the means", without),
    ]:
        print(f"- {title}: {len(names) or 'none'}")
        for name in names:
            print(f"  - {name}")


def table_of_fails(path, binary, mode, wanted):
    """The table of gate.sh --fail: a FAIL, and a FAIL with the PASS after it, against two runs of the literal goal."""
    only = {tuple(one.split("/", 1)) for one in wanted.split(",") if one}
    sides = defaultdict(dict)
    for row in rows(path, binary):
        key = (row["project"], row["name"])
        if key not in only:
            continue
        if row["side"].startswith("literal") and row["mode"] in ("class", "fail"):
            sides[key][row["side"]] = row
        elif row["side"] == "ralph" and row["mode"] == mode:
            sides[key][row["run"]] = row
    print("| class | weak: literal | ralph | literal s | ralph s | ratio | whole: ralph | both s | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    fails, both, other, passed, bare = [], [], [], [], []
    for key in sorted(key for key in sides if len(sides[key]) == 4):
        old, weak, first, again = (sides[key][side] for side in ("literal", "literal-weak", "1", "2"))
        name = f"{key[0]}/{key[1].rsplit('.', 1)[-1]}"
        seconds = [float(row["seconds"]) for row in (old, weak, first, again)]
        ratio, together = seconds[2] / seconds[1], (seconds[2] + seconds[3]) / (seconds[0] + seconds[1])
        print(
            f"| {name} | {score(weak)} | {score(first)} | {seconds[1]:.1f} | {seconds[2]:.1f} | {ratio:.2f} |"
            f" {score(again)} | {seconds[2] + seconds[3]:.1f} | {together:.2f} |"
        )
        for literal, own, what in ((weak, first, "weak"), (old, again, "whole")):
            if literal["verdict"] != own["verdict"]:
                other.append(f"{name}, {what}: literal {score(literal)}, ralph {score(own)} ({own['note']})")
        if weak["verdict"] == first["verdict"] == "FAIL":
            fails.append(ratio)
            both.append(together)
            if weak["note"].startswith("all"):
                bare.append(name)
        else:
            passed.append(name)
    if fails:
        print(f"\n- {len(fails)} FAILs: geometric mean of ratios {mean(fails):.3f}, highest {max(fails):.2f}")
        print(f"- a FAIL and what comes after it: geometric mean of ratios {mean(both):.3f}, highest {max(both):.2f}")
    for title, names in [
        ("verdicts that differ", other),
        ("FAIL only with all their assertions deleted", bare),
        ("no FAIL with weak tests, left out of the means", passed),
    ]:
        print(f"- {title}: {len(names) or 'none'}")
        for name in names:
            print(f"  - {name}")


def history(path, binary, wanted):
    """The table of history.sh: one row for each task, and the totals."""
    order = wanted.split(",")
    sides = defaultdict(dict)
    for row in rows(path, binary):
        if row["mode"] == "history":
            sides[row["name"]][row["side"]] = row
    print("| task | releases | class | literal s | ralph s | ratio | literal | ralph |")
    print("|---|---|---|---|---|---|---|---|")
    totals, differ, ratios, done = [0.0, 0.0], [], [], 0
    for number, name in enumerate(order, 1):
        if len(sides[name]) < 2:
            continue
        old, new = sides[name]["literal"], sides[name]["ralph"]
        times = float(old["seconds"]), float(new["seconds"])
        totals = [totals[0] + times[0], totals[1] + times[1]]
        ratios.append(times[1] / times[0])
        done += 1
        releases, cls = name.split("/", 1)
        print(
            f"| {number} | {releases} | {cls.rsplit('.', 1)[-1]} | {times[0]:.1f} | {times[1]:.1f} |"
            f" {times[1] / times[0]:.2f} | {score(old)} | {score(new)} |"
        )
        if old["verdict"] != new["verdict"]:
            differ.append(f"{name}: literal {score(old)}, ralph {score(new)} ({old['note']}; {new['note']})")
    if done:
        ratio = totals[1] / totals[0]
        print(f"| | | {done} tasks | {totals[0]:.1f} | {totals[1]:.1f} | {ratio:.2f} | | |")
        print(f"\n- geometric mean of ratios {mean(ratios):.3f}")
    print(f"- verdicts that differ: {len(differ) or 'none'}")
    for name in differ:
        print(f"  - {name}")


TIERS = ("own", "near", "touching", "all")


def ends_of(results, name):
    """The mutants of a class in one results file of ralph's plugin: what makes a mutant the same one, and how it ended."""
    document = open(results, encoding="utf-8").read()[:-64]
    for identity, _, line, status, *_ in json.loads(document)[4]:
        if identity[0] == name or identity[0].startswith(name + "$"):
            yield "|".join([*identity[:4], ",".join(map(str, identity[4]))]), str(line), status


def mutants_judged(answer, name, seconds):
    """How each mutant ended after all tiers of one `ralph gate --json`, as JSON; 1 where the counts are others."""
    report = json.load(open(answer, encoding="utf-8"))["report"]
    ends = {}
    shown = [os.path.dirname(os.path.dirname(page)) for page in report.get("reports", [])]
    for tier in [*TIERS, "alone"]:
        for page in sorted({os.path.join(folder, tier, "results.json") for folder in shown}):
            if not os.path.isfile(page):
                continue
            for key, line, status in ends_of(page, name):
                before = ends.get(key, {}).get("status")
                if tier == "alone" or before not in KILLED:
                    ends[key] = {"line": line, "status": status, "tier": tier}
    tally = next((score["tally"] for score in report.get("classes", []) if score["class"] == name), None)
    killed = sum(end["status"] in KILLED for end in ends.values())
    if tally is None and report["verdict"] != "skip":
        sys.exit(f"{answer}: verdict {report['verdict']}, no score of {name}")
    if tally and tally["killed"] + tally["timed_out"] != killed:
        sys.exit(f"{answer}: ralph counts {tally['killed'] + tally['timed_out']} killed, the reports {killed}")
    json.dump({"ends": ends, "seconds": float(seconds), "verdict": report["verdict"]}, sys.stdout)


def tiers(folder, *wanted):
    """The table of tiers.sh: each class with both sets of killed mutants, and every mutant in only one of them."""
    print("| class | mutants | killed by tiers | killed by all at once | at 70 % | tiers s | all s |")
    print("|---|---|---|---|---|---|---|")
    differ, verdicts, done, missing = [], [], 0, []
    for name in wanted:
        paths = [os.path.join(folder, f"{name}-{tests}.json") for tests in ("own-first", "all")]
        if not all(map(os.path.isfile, paths)):
            missing.append(name)
            continue
        done += 1
        first, whole = (json.load(open(path, encoding="utf-8")) for path in paths)
        killed = [{key for key, end in side["ends"].items() if end["status"] in KILLED} for side in (first, whole)]
        total = [sum(end["status"] in KILLED | SURVIVED for end in side["ends"].values()) for side in (first, whole)]
        at70 = [verdict(len(some), all_of) for some, all_of in zip(killed, total)]
        short = name.split("-", 1)[0] + "/" + name.rsplit(".", 1)[-1]
        print(
            f"| {short} | {total[1]} | {len(killed[0])} | {len(killed[1])} | {at70[0]} {at70[1]} |"
            f" {first['seconds']:.1f} | {whole['seconds']:.1f} |"
        )
        if at70[0] != at70[1]:
            verdicts.append(f"{short}: tiers {at70[0]}, all at once {at70[1]}")
        for key in sorted(killed[0] ^ killed[1]):
            ends = [side["ends"].get(key, {}).get("status", "not there") for side in (first, whole)]
            line = whole["ends"].get(key, first["ends"].get(key))["line"]
            differ.append(f"{short}:{line} {key.split('|')[3].rsplit('.', 1)[-1]}: tiers {ends[0]}, all at once {ends[1]}")
    print(f"\n- {done} classes judged by both")
    for title, names in [
        ("verdicts at 70 % that differ", verdicts),
        ("mutants that only one of them killed", differ),
        ("classes without two answers", missing),
    ]:
        print(f"- {title}: {len(names) or 'none'}")
        for name in names:
            print(f"  - {name}")


def count_package(answer, package):
    """What one `ralph gate --json` says of one package: `verdict killed total`, and why where there is no score."""
    text = open(answer, encoding="utf-8").read()
    report = json.loads(text)["report"] if text.strip() else {"verdict": "error", "why": "no answer, see the log beside it"}
    tallies = [score["tally"] for score in report.get("classes", []) if score["package"] == package]
    killed = sum(tally["killed"] + tally["timed_out"] for tally in tallies)
    total = killed + sum(tally["survived"] + tally["no_coverage"] for tally in tallies)
    said = report["verdict"].upper()
    if said == "FAIL" and not any(path.startswith(package + "/") for path in report.get("failing", [])):
        said = "PASS" if tallies else "SKIP"
    why = " ".join(report.get("reasons", [])) or report.get("why", "")
    print(said, killed, total, re.sub(r"\s+", " ", why) if said == "ERROR" or not tallies else "")


def shapes(path, binary, shapes):
    """The table of shapes.sh, and every shape on which ralph's verdicts are not as they must be; 1 where there is one."""
    answers = defaultdict(dict)
    for line in open(path, encoding="utf-8"):
        name, version, side, made_by, answer, seconds = line.rstrip("\n").split("\t")
        if made_by in ("-", binary):
            answers[name][version, side] = answer, float(seconds)
    print("| shape | literal: kills | asserts nothing | ralph: kills | asserts nothing | literal s | ralph s |")
    print("|---|---|---|---|---|---|---|")
    wrong, differ, without, both, done = [], [], [], 0, 0
    for row in shapes.splitlines():
        name = row.split(":")[0].lstrip("*+")
        must = ("SKIP", "SKIP") if row.startswith("+") else ("PASS", "FAIL")
        ends = {side: [answers[name].get((version, side)) for version in ("kill", "weak")] for side in ("literal", "ralph")}
        shown, took, words = [], [], {}
        for side, two in ends.items():
            parts = [end[0].split(" ", 3) if end else ["-"] for end in two]
            words[side] = tuple(part[0] for part in parts)
            shown += [f"{part[0]} {part[1]}/{part[2]}" if len(part) > 2 and part[2] != "0" else part[0] for part in parts]
            took.append("-" if None in two else f"{sum(end[1] for end in two):.1f}")
        print(f"| {name} | {' | '.join(shown)} | {' | '.join(took)} |")
        done += 1
        if words["ralph"] != must:
            wrong.append(f"{name}: {' and '.join(end[0] if end else '-' for end in ends['ralph'])}")
        if "-" not in words["literal"]:
            both += 1
            if not set(words["literal"]) <= {"PASS", "FAIL"}:
                without.append(f"{name}: {' and '.join(words['literal'])}")
            elif words["literal"] != words["ralph"]:
                differ.append(f"{name}: literal {' and '.join(words['literal'])}, ralph {' and '.join(words['ralph'])}")
    print(f"\n- {done} shapes, two commits each; ralph's verdicts are as they must be on {done - len(wrong)}")
    print(f"- the literal goal ran on {both}; the same verdicts on {both - len(differ) - len(without)}")
    for title, names in [
        ("ralph's verdict is another than it must be", wrong),
        ("both give verdicts, and they differ", differ),
        ("the literal goal gives no verdict", without),
    ]:
        print(f"- {title}: {len(names) or 'none'}")
        for name in names:
            print(f"  - {name}")
    sys.exit(1 if wrong else 0)


COMMANDS = {
    "count-literal": count_literal,
    "count-ralph": count_ralph,
    "red": red,
    "add-pit": add_pit,
    "edit": edit,
    "table": table,
    "table-of-fails": table_of_fails,
    "weaken": weaken,
    "history": history,
    "mutants": mutants_judged,
    "tiers": tiers,
    "count-package": count_package,
    "shapes": shapes,
}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: gate.py {'|'.join(COMMANDS)} …")
    COMMANDS[sys.argv[1]](*sys.argv[2:])

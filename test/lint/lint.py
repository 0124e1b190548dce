"""Checks that a reviewer should not have to make: include rules of the rooms, file sizes, formatting, stray words.

Run by `./dev lint` and by ctest. Prints one line a finding; exit code 1 if there are any.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_LINES = 900
RUNTIME_ORDER = ["base", "numerics", "plan", "hal", "drivers", "executor", "training", "api"]
BANNED_NAMES = re.compile(r"(utils?|helpers?|manager|misc|legacy|_v2)\b", re.I)
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
FOREIGN = re.compile(r"(/root/|/home/\w+/|/work/|pypi\.|debian\.org)")


def tracked():
    out = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / p for p in out.splitlines()]


def check_runtime_includes(path, text):
    """runtime/ sees no LLVM and only the rooms before its own."""
    room = path.relative_to(ROOT).parts[1]
    for line in re.findall(r'#include\s+[<"]([^">]+)[">]', text):
        if line.startswith(("llvm/", "mlir/", "lld/", "dialects/", "compiler/")):
            yield f"runtime must not include {line}"
        m = re.match(r"runtime/(\w+)/", line)
        if m and room in RUNTIME_ORDER and m[1] in RUNTIME_ORDER and RUNTIME_ORDER.index(m[1]) > RUNTIME_ORDER.index(room):
            yield f"runtime/{room} must not include {line}: it comes later in the dependency rule"


def check(path):
    rel = path.relative_to(ROOT)
    if BANNED_NAMES.search(path.stem):
        yield "a banned name: say what the file is about"
    if path.suffix not in (".cpp", ".h", ".td", ".py", ".proto", ".c", ".cmake"):
        return
    text = path.read_text()
    lines = text.count("\n")
    if lines > MAX_LINES:
        yield f"{lines} lines, more than {MAX_LINES}: split it"
    if rel.parts[0] == "runtime" and path.suffix in (".cpp", ".h"):
        yield from check_runtime_includes(path, text)
    if rel.parts[0] == "dialects":
        for inc in re.findall(r'#include\s+"((?:compiler|tools)/[^"]+)"', text):
            yield f"dialects must not include {inc}"
    if rel != pathlib.Path("test/lint/lint.py"):
        for n, line in enumerate(text.splitlines(), 1):
            if UNFINISHED.search(line):
                yield f"line {n}: unfinished work"
            if FOREIGN.search(line):
                yield f"line {n}: names a machine or a registry"


def main():
    findings = []
    for path in tracked():
        if path.exists():
            findings += [f"{path.relative_to(ROOT)}: {what}" for what in check(path)]
    sources = [str(p) for p in tracked() if p.suffix in (".cpp", ".h") and p.exists()]
    if "--no-format" not in sys.argv and sources:
        r = subprocess.run(["clang-format-22", "--dry-run", *sources], capture_output=True, text=True)
        findings += sorted({l.split(":")[0] + ": not formatted (./dev fmt)" for l in r.stderr.splitlines() if "warning:" in l})
    print("\n".join(findings) if findings else "lint: nothing found")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())

#!/bin/sh
# Looks for known vulnerabilities in the dependencies that are locked (Rust) and installed (Python).
# Status 0: both lists were looked at, and nothing was found; 1: something was found; 3: a list could not be looked at.
BIN=${BIN:-.venv/bin}
status=0
report=$(mktemp -d) || exit 3
trap 'rm -rf "$report"' EXIT

not_checked() {
    echo "NOT CHECKED: $1" >&2
    [ "$status" -eq 1 ] || status=3
}

if cargo audit --version >/dev/null 2>&1; then
    cargo audit --json >"$report/rust" 2>"$report/rust.log"
    if ! grep -q '"vulnerabilities"' "$report/rust"; then
        cat "$report/rust.log" >&2
        not_checked "Cargo.lock: the list of advisories could not be fetched"
    elif cargo audit --no-fetch; then
        echo "Cargo.lock: no known vulnerability"
    else
        status=1
    fi
else
    not_checked "Cargo.lock: cargo audit is not installed (cargo install cargo-audit)"
fi

if "$BIN/python" -m pip_audit --version >/dev/null 2>&1; then
    "$BIN/python" -m pip_audit --local --skip-editable --progress-spinner off --format json \
        >"$report/python" 2>"$report/python.log"
    # A package that the index does not know, or an index that does not answer, is skipped without a word: count them.
    "$BIN/python" - "$report/python" <<'EOF'
import json, sys
try:
    packages = [each for each in json.load(open(sys.argv[1]))["dependencies"] if each["name"] != "topoloom"]
except (OSError, ValueError, KeyError):
    sys.exit(3)
skipped = [each["name"] for each in packages if "skip_reason" in each]
bad = [each for each in packages if each.get("vulns")]
for each in bad:
    names = ", ".join(found["id"] for found in each["vulns"])
    print(f"{each['name']} {each['version']}: {names}")
print(f"Python: {len(bad)} of {len(packages) - len(skipped)} packages that were looked up have known vulnerabilities")
if skipped:
    print(f"not looked up: {len(skipped)} packages, such as {', '.join(skipped[:3])}", file=sys.stderr)
sys.exit(1 if bad else 3 if skipped else 0)
EOF
    case $? in
    0) ;;
    1) status=1 ;;
    *)
        cat "$report/python.log" >&2
        not_checked "Python's packages, or some of them: no advisories came from the index"
        ;;
    esac
else
    not_checked "Python's packages: pip-audit is not installed ($BIN/python -m pip install pip-audit)"
fi
exit $status

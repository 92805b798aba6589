#!/bin/sh
# suite.sh BUSTED... - runs every spec (those in SPECS) with that command, a file
# at a time, two more at once than there are processors (JOBS), since half of
# their time they wait, those that take long first, each for LIMIT seconds at
# most. Ends with what failed, what was not run and why, and a sum in busted's
# words.
#
# Specs find no commands but those that deps.sh lists: what only this machine
# happens to have is missing here too.

slow='inspect/frontend|recipes|send|report/random|importers'
slow="$slow|export|recording|scope/random|transparency|stress"
slow="$slow|server/(attach|blocks|daemon|listen|program)|samples/(windows|onetree)"
slow="$slow|cli/top|outside/record"
jobs=${JOBS:-$((2 + $(nproc 2>/dev/null || echo 1)))}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
build-aux/deps.sh links "$out/bin" || exit 1

specs () {
  all=$(find ${SPECS:-spec} -name '*_spec.lua' | sort)
  echo "$all" | grep -E "^spec/($slow)"
  echo "$all" | grep -vE "^spec/($slow)"
}

# A run that ends without a sum counts as one error.
run='spec=$1; out=$2; shift 2
name=$(echo "$spec" | tr / :)
log=$out/$name.log
began=$(date +%s)
timeout -k 5 ${LIMIT:-900} env PATH="$out/bin" "$@" "$spec" >"$log" 2>&1
status=$?
took=$(($(date +%s) - began))
grep -E "^[0-9]+ success" "$log" >"$out/$name.sum"
if [ $status != 0 ]; then
  echo "  FAIL  $spec: status $status, $took s"
  cp "$log" "$out/$name.failed"
  grep -q . "$out/$name.sum" ||
    echo "0 successes / 0 failures / 1 error / 0 pending" >"$out/$name.sum"
else
  echo "  SPEC  $spec: $(cut -d" " -f1 "$out/$name.sum"), $took s"
  sed -n "/^Pending/,\$s/^/        /p" "$log"
fi'

specs | xargs -P "$jobs" -I{} sh -c "$run" suite {} "$out" "$@"

for log in "$out"/*.failed; do
  [ -e "$log" ] || continue
  echo "== $(basename "$log" .failed | tr : /)"
  grep -vE '^make|^[0-9]+ success' "$log"
done

# A line: "not run: 3 tests (needs node), 1 test (no lua5.1 here)".
awk '
  function told () { if (reason != "") n[reason]++; reason = "" }
  FNR == 1 { told(); on = 0 }
  /^(Pending|Failure|Error) / { told(); on = /^Pending/; next }
  on && NF { reason = $0; sub(/^[^ ]*:[0-9]+: /, "", reason)
              sub(/^.* needs /, "needs ", reason) }
  END {
    told()
    for (r in n) {
      line = line sep n[r] (n[r] > 1 ? " tests" : " test") " (" r ")"
      sep = ", "
    }
    if (line != "") print "not run: " line
  }' "$out"/*.log

cat "$out"/*.sum | tr -cs '0-9.\n' ' ' | awk '
  { s += $1; f += $2; e += $3; p += $4 }
  END {
    printf "%d successes / %d failures / %d errors / %d pending\n", s, f, e, p
    exit f + e > 0 || s == 0
  }'

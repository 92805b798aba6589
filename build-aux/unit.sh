#!/bin/sh
# unit.sh PROGRAM... - runs C test programs, as many at once as there are
# processors, and sums up. A program may say how much it tested in its last line,
# "9 passed, 0 failed"; one that says nothing counts as one test. What a failing
# one printed is shown.
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

run='program=$1; out=$2
log=$out/$(basename "$program").log
"$program" >"$log" 2>&1
status=$?
set -- $(sed -n "s/^\([0-9]*\) passed, \([0-9]*\) failed\$/\1 \2/p" "$log" |
         tail -1)
p=${1:-$((status == 0))}
f=${2:-0}
[ $status != 0 ] && [ "$f" = 0 ] && f=1
echo "$p $f" >"$log.sum"
if [ "$f" != 0 ]; then
  echo "  FAIL  $program (status $status)" >>"$log"
  cat "$log"
else
  echo "  RUN   $program: $p"
fi'

printf '%s\n' "$@" |
  xargs -P "$(nproc 2>/dev/null || echo 1)" -I{} sh -c "$run" unit {} "$out"

cat "$out"/*.sum | awk '
  { passed += $1; failed += $2 }
  END {
    printf "unit: %d passed, %d failed\n", passed, failed
    exit failed > 0 || passed == 0
  }'

#!/bin/sh
# unit.sh PROGRAM... - runs C test programs one by one and sums up. A program
# may say how much it tested in its last line, "9 passed, 0 failed"; one that
# says nothing counts as one test. What a failing one printed is shown.
passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for program in "$@"; do
  "$program" >"$log" 2>&1
  status=$?
  set -- $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" |
           tail -1)
  p=${1:-$((status == 0))}
  f=${2:-0}
  [ $status != 0 ] && [ "$f" = 0 ] && f=1
  passed=$((passed + p))
  failed=$((failed + f))
  if [ "$f" != 0 ]; then
    cat "$log"
    echo "  FAIL  $program (status $status)"
  else
    echo "  RUN   $program: $p"
  fi
done
echo "unit: $passed passed, $failed failed"
[ "$failed" = 0 ]

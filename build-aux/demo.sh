#!/bin/sh
# demo.sh BUILD - what `make demo` shows, from an installed and built tree.
out=$1/demo
LUA=${LUA:-lua5.4}
mkdir -p "$out" || exit 1
"$LUA" build-aux/document.lua 1100000 "$out/orders.json" || exit 1

log="$1/bin/tracegrip run --no-c --value-string 40 --value-properties 3"
echo "== live: $log"
echo "         examples/orders.lua $out/orders.json $out/orders.jsonl"
$log --max-events 60 -o "$out/log.txt" examples/orders.lua "$out/orders.json" \
  "$out/orders.jsonl" || exit 1
cat "$out/log.txt"

echo
echo "== the whole run"
"$LUA" examples/demo.lua "$out/orders.json" "$out" || exit 1
echo
echo "the first of $out/own.jsonl, calls of the program's own functions:"
head -3 "$out/own.jsonl"

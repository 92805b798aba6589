#!/bin/sh
# demo.sh BUILD - what `make demo` shows, from an installed and built tree.
out=$1/demo
LUA=${LUA:-lua5.4}
mkdir -p "$out" || exit 1
"$LUA" build-aux/document.lua 1100000 "$out/orders.json" || exit 1

echo "== the first calls, live: tracegrip run examples/orders.lua orders.json"
"$1/bin/tracegrip" run --max-events 32 -o "$out/log.txt" \
  examples/orders.lua "$out/orders.json" "$out/orders.jsonl" || exit 1
cat "$out/log.txt"

echo
echo "== the whole run"
"$LUA" examples/demo.lua "$out/orders.json" "$out" || exit 1
echo
echo "the first two packets of $out/slow.jsonl, calls of 0.5 ms and more:"
head -2 "$out/slow.jsonl"

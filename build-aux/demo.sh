#!/bin/sh
# demo.sh BUILD - what `make demo` shows, from an installed and built tree.
out=$1/demo
LUA=${LUA:-lua5.4}
tracegrip=$1/bin/tracegrip
mkdir -p "$out" || exit 1
"$LUA" build-aux/document.lua 1100000 "$out/orders.json" || exit 1

show () {       # a command, told before it runs
  echo
  echo "\$ tracegrip $*"
  "$tracegrip" "$@"
}

log="run --no-c --value-string 40 --value-properties 3"
echo "== live"
echo "\$ tracegrip $log examples/orders.lua $out/orders.json ..."
"$tracegrip" $log --max-events 60 -o "$out/log.txt" examples/orders.lua \
  "$out/orders.json" "$out/orders.jsonl" || exit 1
cat "$out/log.txt"

echo
echo "== recorded: what it is, where the time went, who called whom"
show record -o "$out/orders.tgr" examples/orders.lua "$out/orders.json" \
  "$out/orders.jsonl" || exit 1
show info "$out/orders.tgr" || exit 1
show report --limit 12 "$out/orders.tgr" || exit 1
show tree --depth 5 --min-ms 5 "$out/orders.tgr" || exit 1

echo
echo "== traces of the program's own"
"$LUA" examples/demo.lua "$out/orders.json" "$out" || exit 1
echo
echo "the first of $out/own.jsonl, calls of the program's own functions:"
head -3 "$out/own.jsonl"

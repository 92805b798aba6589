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
show record --sources -o "$out/orders.tgr" examples/orders.lua \
  "$out/orders.json" "$out/orders.jsonl" || exit 1
show info "$out/orders.tgr" || exit 1
show report --limit 12 "$out/orders.tgr" || exit 1
show tree --depth 5 --min-ms 5 "$out/orders.tgr" || exit 1

echo
echo "== exported: calls of 5 microseconds and more, for the viewers you have"
exported () {   # format, options: what to open it with
  format=$1
  with=$2
  shift 2
  show export "$format" "$@" "$out/orders.tgr" || exit 1
  echo "  to open: $with"
}
exported firefox "drop the file on https://profiler.firefox.com, or
           $tracegrip view $out/orders.tgr" \
  --min-ms 0.005 --sources -o "$out/orders.profile.json.gz"
exported gecko "the same, as Firefox itself writes it" --min-ms 0.005
exported chrome "Chrome: F12, Performance, Load profile; or drop it on
           https://ui.perfetto.dev" --min-ms 0.005
exported cpuprofile "Visual Studio Code opens it; so does Chrome, as above" \
  --min-ms 0.005
exported speedscope "drop it on https://www.speedscope.app" --min-ms 0.005
exported folded "flamegraph.pl $out/orders.folded >flame.svg; below it is drawn
           for a terminal"
exported packets "a packet a line: head -3 $out/orders.packets.jsonl" \
  --raw --to 60 -o "$out/orders.packets.jsonl"
echo
ls -lh "$out" | awk 'NR > 1 {print "  " $5 "\t" $9}'

echo
echo "== traces of the program's own"
"$LUA" examples/demo.lua "$out/orders.json" "$out" || exit 1
echo
echo "the first of $out/own.jsonl, calls of the program's own functions:"
head -3 "$out/own.jsonl"

echo
echo "== a picture: each function as wide as its time, below its caller"
"$tracegrip" export folded --no-c -o "$out/picture.folded" \
  "$out/orders.tgr" 2>/dev/null || exit 1
"$LUA" build-aux/flame.lua "$out/picture.folded" 100

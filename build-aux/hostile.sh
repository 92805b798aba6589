#!/bin/sh
# hostile.sh PROGRAM FROM TO - looks into cores whose words are changed
# (spec/fuzz/hostile.c), of each interpreter here. Needs gcore (package gdb).

program=$1
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

code='
local co = {}
for i = 1, 5 do
  co[i] = coroutine.create(function (n, ...)
    local t = {n, name = "n", {deep = {}}}
    local function inner (a) coroutine.yield(t) return a end
    return inner(...)
  end)
  coroutine.resume(co[i], i, "extra", i)
end
local function f (a, b) io.open("word", "w"):close() io.read() end
setmetatable(co, {__index = co})
f("text", 2.5)'

command -v gcore >/dev/null || { echo "not run: hostile (no gcore)"; exit 0; }

core () {       # INTERPRETER: makes $dir/core
  rm -f "$dir"/*
  mkfifo "$dir/in"
  (cd "$dir" && exec "$1" -e "$code" <in) &
  pid=$!
  exec 9>"$dir/in"
  while [ ! -e "$dir/word" ] && kill -0 $pid 2>/dev/null; do sleep 0.1; done
  gcore -o "$dir/core" $pid >/dev/null 2>&1
  mv "$dir/core.$pid" "$dir/core"
  exec 9>&-
  wait $pid
}

for lua in lua5.1 lua5.2 lua5.3 lua5.4 luajit "$PWD"/build/versions/lua-*/lua; do
  command -v "$lua" >/dev/null && core "$lua" || continue
  "$program" "$dir/core" "$2" "$3" || { echo "hostile: $lua"; failed=1; }
done
exit $failed

#!/bin/sh
# lint.sh - the checks that need no test to run. Called by `make lint`, which
# exports FLAGS, LUA_INCDIR, CORE, OBJ and LUA.

passed=0
failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

check () {      # WHAT COMMAND...: passes if the command succeeds
  what=$1
  shift
  if "$@" >"$out" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "lint: $what"
    sed 's/^/  /' "$out"
  fi
}

none () {       # COMMAND...: succeeds if it prints nothing
  "$@" | sed '/^$/d' >"$out.none"
  cat "$out.none"
  test ! -s "$out.none"
  status=$?
  rm -f "$out.none"
  return $status
}

compiles () {   # COMPILER FILE...
  compiler=$1
  shift
  for file in "$@"; do
    "$compiler" $FLAGS -Werror -Icsrc -I"$LUA_INCDIR" -fsyntax-only "$file" \
      || return 1
  done
}

elsewhere () {  # NAME FILES: calls of NAME outside FILES
  grep -rnE "\\b$1 *\\(" --include='*.c' csrc | grep -vE "^csrc/($2):"
}

exports () {
  nm -D --defined-only "$CORE" | awk '{print $3}' | sort
}

rockspec_agrees () {
  "$LUA" build-aux/rockspec.lua tracegrip-scm-1.rockspec
}

luarocks_lint () {
  luarocks --lua-version=5.4 lint tracegrip-scm-1.rockspec
}

long_lines () {
  LC_ALL=C.UTF-8 grep -rnE '^.{81,}' --include='*.[ch]' csrc modules spec
}

# The metatable of strings is the program's. Classes of ours that run there give
# their methods other names.
string_methods () {
  grep -nE ':(byte|char|dump|find|format|gmatch|gsub|len|lower|match|pack|rep'\
'|reverse|sub|unpack|upper)\>' lua/tracegrip/inspect/*.lua \
    lua/tracegrip/listen.lua lua/tracegrip/wire.lua \
    lua/tracegrip/jsontext.lua lua/tracegrip/target.lua \
    lua/tracegrip/coverage.lua lua/tracegrip/coverage/*.lua \
    lua/tracegrip/hosted.lua lua/tracegrip/literal.lua lua/tracegrip/send/otlp.lua \
    | grep -vE '^lua/tracegrip/inspect/(door|ending|handshake).lua:'
}

sources=$(find csrc modules spec -name '*.c')

check "luacheck" luacheck -q --codes --no-color .
check "gcc -Werror" compiles gcc $sources
check "clang -Werror" compiles clang $sources
check "rockspec and csrc/, lua/ agree" rockspec_agrees
check "luarocks lint" luarocks_lint
check "only luaopen_tracegrip_core is exported" \
  test "$(exports)" = luaopen_tracegrip_core
check "includes go down in the list of csrc/README.md" \
  "$LUA" build-aux/rooms.lua includes
check "calls go down, and never in a circle" \
  "$LUA" build-aux/rooms.lua symbols "$OBJ"
check "what is only named is below, too" \
  "$LUA" build-aux/rooms.lua names
# probe_frames.c and probe_hooks.c have a state of their own.
check "lua_sethook only where hooks are set" none elsewhere \
  lua_sethook '(chain|host|sample|hook)/[a-z]*.c|inspect/(agent|evaluation|mask|uncaught|watch|workspace).c|'\
'coverage/covering.c|direct/probe_(frames|hookcode|hooks).c'
check "no methods of strings in what runs in the program's state" none \
  string_methods
check "80 columns" none long_lines
echo "lint: $passed passed, $failed failed"
[ "$failed" = 0 ]

#!/bin/sh
# oracle.sh BUILD FIRST LAST [SOURCES] - checks the tracer against the
# interpreter: a copy of Lua's source is changed so that it logs each frame that
# it enters and leaves (spec/oracle/patch.lua), and random programs FIRST to LAST
# are traced on it, whose packets must be what the log says (check.lua).
#
# SOURCES has lua-5.4.8.tar.gz or the like, of which the releases from 5.4.4 on
# are taken. Without it, what build-aux/versions.sh has fetched from Debian is
# used; where that is nothing either, it says so and does nothing.

build=$1
first=$2
last=$3
sources=$4
aux=$(dirname "$0")

mkdir -p "$build"
build=$(cd "$build" && pwd)
releases=$("$aux/versions.sh" "$build" "$sources" list) || exit

oracle () {     # RELEASE: builds $to/lua
  [ ! -x "$to/lua" ] || return 0
  rm -rf "$to"
  mkdir -p "$to"
  cp "$1"/src/*.[ch] spec/oracle/logged.h "$to" &&
  ${LUA:-lua5.4} spec/oracle/patch.lua "$to" &&
  (cd "$to" && rm -f luac.c &&
   ${CC:-cc} -w -O2 -std=gnu99 -DLUA_USE_LINUX -DLUA_COMPAT_5_3 -Wl,-E -o lua \
     l*.c -lm -ldl)
}

try () {        # RELEASE
  to=$build/oracle-$(basename "$1" | sed 's/lua-//')
  case $1 in
    */lua-5.4.[4-9]) headers=/usr/include/lua5.4; command=lua5.4 ;;
    */lua-5.5.*) headers=$1/src; command=$to/lua ;;
    *) return 0 ;;
  esac
  oracle "$1" &&
  echo "oracle: $(basename "$1")" &&
  make --no-print-directory oracle-run LUA="$command" LUA_INCDIR="$headers" \
    ORACLE="$to/lua" SEEDS="$first $last"
}

failed=
for release in $releases; do
  try "$release" || failed="$failed $(basename "$release")"
done
[ -n "$releases" ] ||
  echo "not run: the interpreter that logs itself (LUASRC=DIR, or apt-get, has none)"
[ -z "$failed" ] || { echo "oracle: failed:$failed" >&2; exit 1; }

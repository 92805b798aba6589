#!/bin/sh
# musl.sh BUILD [SOURCES] - tracegrip where the C library is musl, as on Alpine:
# an interpreter, zlib and the module are built with musl-gcc, and programs of the
# specs in SPECS run there. What is left out needs modules that are not built for
# musl here (luv, cjson); the suite tells it.
#
# SOURCES has Lua 5.4 as lua.org gives it, and may have zlib's source (zlib*, as a
# tarball). What it has not comes from Debian, as it was released.

build=$(mkdir -p "$1" && cd "$1" && pwd)
sources=$2
. build-aux/debian.sh
. build-aux/kernel.sh
. build-aux/releases.sh
CC=musl-gcc

missing () {
  echo "not run: musl ($1 is not to be had)"
  exit 0
}

# Sources that are not in SOURCES, once.
fetch () {      # PACKAGE
  ls "$build"/fetched/"$1"_* >/dev/null 2>&1 ||
    { { [ -n "$fetched" ] || lists "$build/fetched" deb-src stable; } &&
      tarball "$1"; }
}

zlib () {       # builds $build/zlib/libz.a
  [ ! -f "$build/zlib/libz.a" ] || return 0
  tarball=$(ls "$sources"/zlib*.tar.* "$build"/fetched/zlib_*.tar.* 2>/dev/null |
            head -n 1)
  mkdir -p "$build/zlib" &&
  tar xf "$tarball" -C "$build/zlib" --strip-components=1 &&
  (cd "$build/zlib" && CC=$CC CFLAGS='-O2 -fPIC' ./configure --static &&
   make libz.a) >"$build/zlib.log" 2>&1
}

has () {        # SOURCES has NAME, a pattern
  [ -n "$sources" ] && ls -d "$sources"/$1 >/dev/null 2>&1
}

if has 'lua*5.4*'; then
  unpack "$sources"
else
  fetch lua5.4 || missing "Lua's source"
  unpack "$build/fetched"
fi
has 'zlib*.tar.*' || fetch zlib || missing "zlib's source"
lua=$(printf '%s\n' $releases | grep lua-5.4. | tail -n 1)

kernel && zlib && interpreter "$lua" || exit
make --no-print-directory spec SPEC= SPECS="$SPECS" BUILD="$build" \
  LUA="$lua/lua" LUA_INCDIR="$lua/src" FOREIGN="$build/lib/lua/5.4/?.so" \
  WSLAY= CURL= \
  CC="$CC -idirafter $build/kernel -isystem $build/zlib -L$build/zlib"

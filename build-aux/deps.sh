#!/bin/sh
# deps.sh GROUP... - sees to it that what a group of tasks needs is there.
# deps.sh links DIR - makes links to the commands that specs may call.
#
# Groups: run (build and use), test, lint, importers, pictures, musl, static, arm64.
# Says nothing when nothing is missing. What is missing is installed with apt-get where there is one; else
# it is listed, and the answer is 1. Each thing is tried, not looked up among
# installed packages, so what came from LuaRocks or from source counts too.

LUA=${LUA:-lua5.4}
HOST=${HOST:-lua5.4}            # runs busted, and has the modules
version=${VERSION:-5.4}         # of LUA
missing=

# What specs call beside what is installed for them: what every system has and
# what make needs to build the tree, and what they say they have to do without.
utilities="as awk basename bash cat cc chmod chown cmp cp cut date dd dirname env expr
  find gcc grep gzip head id install kill ld ln ls make mkdir mkfifo mktemp mount mv nproc od paste
  printf readlink rm rmdir script sed seq sh sleep sort stat stty tail tar tee test
  timeout touch tr true umount uname uniq wc xargs zcat"
optional="chromium clingo gcore gdb go lighttpd lua lua5.1 lua5.4 luajit lz4 nginx node
  nvim prosody redis-server xz zstd"

want () {       # PACKAGE COMMAND...: the package, unless the command works
  package=$1
  shift
  "$@" </dev/null >/dev/null 2>&1 || missing="$missing $package"
}

command_ () { want "$1" command -v "$2"; }
module () { want "$1" "$HOST" -e "require '$2'"; }

check () {
  case $1 in
    run)
      command_ gcc "${CC:-gcc}"
      command_ make make
      command_ "lua$version" "$LUA"
      command_ lua5.4 "$HOST"
      want zlib1g-dev test -f "${ZLIB_INCDIR:-/usr/include}/zlib.h"
      want libwslay-dev test -f "${WSLAY_INCDIR:-/usr/include}/wslay/wslay.h"
      want libcurl4-openssl-dev eval \
        'test -f "$(ls /usr/include/curl/curl.h /usr/include/*/curl/curl.h | head -1)"'
      want libzstd1 "$HOST" -e \
        'local _, m = package.loadlib("libzstd.so.1", "*"); assert(not m, m)'
      want "liblua$version-dev" test -f \
        "${LUA_INCDIR:-/usr/include/lua$version}/lua.h"
      module lua-cjson cjson
      module lua-argparse argparse
      module lua-luv luv
      module lua-dkjson dkjson ;;
    test)
      command_ lua-busted busted
      module lua-luassert luassert
      module lua-penlight pl.pretty
      module lua-filesystem lfs
      want libdw1 "$HOST" -e \
        'local _, m = package.loadlib("libdw.so.1", "*"); assert(not m, m)'
      command_ lua-check luacheck
      jit=luajit                # of the two the one that removes nothing
      test ! -d /usr/share/doc/libluajit2-5.1-2 || jit=luajit2
      command_ $jit luajit ;;
    lint)
      command_ lua-check luacheck
      command_ luarocks luarocks
      command_ binutils nm
      command_ clang clang ;;
    importers)
      command_ nodejs node
      command_ npm npm
      command_ golang-go go
      command_ chromium chromium ;;
    musl)
      command_ musl-tools musl-gcc ;;
    static)
      command_ musl-tools musl-gcc
      command_ bzip2 bzip2
      command_ xz-utils xz ;;
    arm64)
      command_ gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc
      want qemu-user-static eval \
        'command -v qemu-aarch64-static || command -v qemu-aarch64' ;;
    pictures)
      command_ nodejs node
      command_ npm npm
      command_ chromium chromium
      command_ pngquant pngquant
      for font in dejavu-core symbola noto-color-emoji; do
        want "fonts-$font" test -d "/usr/share/doc/fonts-$font"
      done ;;
  esac
}

as_root () {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

fetch () {      # first with the lists there are, then with fresh ones
  export DEBIAN_FRONTEND=noninteractive
  set -- apt-get install -y -qq --no-install-recommends $missing libc6-dev
  as_root "$@" >/dev/null 2>&1 && return
  as_root apt-get update -qq >/dev/null && as_root "$@" >/dev/null
}

links () {      # DIRECTORY
  mkdir -p "$1"
  for name in $utilities $optional busted "$LUA"; do
    echo "$PATH" | tr : '\n' | while read -r folder; do
      [ -x "$folder/$name" ] && ln -sf "$folder/$name" "$1" && break
    done
  done
}

if [ "$1" = links ]; then
  links "$2"
  exit 0
fi

for group in "$@"; do
  check "$group"
done
[ -z "$missing" ] && exit 0

if command -v apt-get >/dev/null &&
   { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }; then
  echo "installing$missing"
  fetch && exit 0
fi
echo "wanted, by the names of Debian's packages:$missing" >&2
echo "(rocks: lua-cjson, argparse, luv, dkjson, busted, penlight, luacheck)" >&2
exit 1

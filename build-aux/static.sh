#!/bin/sh
# static.sh BUILD [SOURCES] - tracegrip as one file, BUILD/bin/tracegrip-static: all
# is built with musl-gcc and linked into it, so it depends on nothing of the machine
# that it is copied to. Called by `make static`, which exports MAKE, LUA and CFLAGS.
#
# SOURCES may have the sources of Lua 5.4, zlib, libuv and luv, as lua-5.4.8.tar.gz
# and the like. What it has not comes from Debian, as it was released. Without luv
# all is there but the commands that need it.

bin=$(mkdir -p "$1/bin" && cd "$1/bin" && pwd)/tracegrip-static
build=$(mkdir -p "$1/static" && cd "$1/static" && pwd)
sources=${2:-/nowhere}
. build-aux/debian.sh
. build-aux/kernel.sh
fetched=$build/fetched
CC="musl-gcc -idirafter $build/kernel -isystem $build/zlib"

fail () {
  echo "not built: tracegrip-static ($1)" >&2
  exit 1
}

# The source's tarball, from SOURCES or fetched.
tarball_of () { # PACKAGE PATTERN
  ls -d "$sources"/$2.tar.* "$fetched"/"$1"_*.tar.* 2>/dev/null |
    tail -n 1
}

# Unpacks it to $build/PACKAGE, once.
source_of () {  # PACKAGE PATTERN
  [ ! -f "$build/$1/unpacked" ] || return 0
  [ -n "$(tarball_of "$1" "$2")" ] || get "$1" || return
  mkdir -p "$build/$1" &&
  tar xf "$(tarball_of "$1" "$2")" -C "$build/$1" --strip-components=1 &&
  { [ "$1" != lua5.4 ] || flat "$build/lua5.4"; } &&
  touch "$build/$1/unpacked"
}

# Some have Lua's files without the directory that lua.org puts them in.
flat () {       # DIRECTORY
  [ -d "$1/src" ] || { mkdir "$1/src" && mv "$1"/*.[ch] "$1/src"; }
}

# The machine's own release, or that of another Debian: mirrors do not keep all.
get () {        # PACKAGE
  [ -d "$fetched/lists" ] ||
    lists "$fetched" deb-src "$(suite)" stable unstable || return
  for version in $(offered "$1"); do
    tarball "$1" "$version" && return
  done
}

zlib () {
  [ -f "$build/zlib/libz.a" ] ||
  (cd "$build/zlib" && CC=musl-gcc CFLAGS=-O2 ./configure --static &&
   "$MAKE" libz.a) >"$build/zlib.log" 2>&1
}

compile () {    # OBJECT SOURCE FLAGS...
  object=$build/obj/$1.o
  from=$2
  shift 2
  [ "$object" -nt "$from" ] ||
    $CC -w -O2 -std=gnu99 -D_GNU_SOURCE "$@" -c "$from" -o "$object"
}

# Of Lua's libraries those that open files open what is inside as well. Scripts find
# our modules, and those in Lua that are installed where the file is used.
paths=
for place in /proc/self/exe/lua /usr/local/share/lua/5.4 /usr/share/lua/5.4 .; do
  paths="$paths$place/?.lua;$place/?/init.lua;"
done

lua () {
  for file in "$build"/lua5.4/src/l*.c; do
    name=$(basename "$file" .c)
    [ "$name" = luac ] ||
      compile "lua_$name" "$file" -DLUA_USE_LINUX -Dmain=lua_main \
        "-DLUA_PATH_DEFAULT=\"${paths%;}\"" \
        "-DLUA_CPATH_DEFAULT=\"/proc/self/exe/lib/?.so\"" \
        -Dfopen=tg_static_fopen -Ddlopen=tg_static_dlopen -Ddlsym=tg_static_dlsym \
        -Ddlerror=tg_static_dlerror -Ddlclose=tg_static_dlclose || return
  done
}

# As libuv's own build has it for Linux, of releases before 1.45 and since.
common="fs-poll idna inet random strscpy strtok threadpool timer uv-common
  uv-data-getter-setters version"
unix="async core dl fs getaddrinfo getnameinfo loop-watcher loop pipe poll process
  random-devurandom signal stream tcp thread tty udp linux linux-core linux-inotify
  linux-syscalls epoll procfs-exepath random-getrandom random-sysctl-linux proctitle"

luv () {
  uv=$build/libuv1
  for name in $common $(printf 'unix/%s ' $unix); do
    [ ! -f "$uv/src/$name.c" ] ||
      compile "uv_$(basename "$name")" "$uv/src/$name.c" -I"$uv/include" \
        -I"$uv/src" || return
  done
  compile luv "$build/lua-luv/src/luv.c" -I"$uv/include" \
    -I"$build/lua5.4/src"
}

# Our own C files: by the Makefile, as for the module. Their code is in a section by
# which it is known among all other (csrc/host/ownfunctions.c).
core () {
  "$MAKE" --no-print-directory BUILD="$build/core" CC="$CC" \
    LUA_INCDIR="$build/lua5.4/src" static-objects &&
  ld -r -o "$build/core.o" $(find "$build/core/obj" -name '*.o') || return
  set --
  for section in .text .text.unlikely .text.hot .text.startup .text.exit; do
    set -- "$@" --rename-section "$section=tg_code"
  done
  objcopy "$@" "$build/core.o" "$build/obj/core.o"
}

texts () {
  "$LUA" build-aux/embed.lua lua \
    "$("$LUA" -e 'print(package.searchpath("argparse", package.path))')" \
    >"$build/texts.c" &&
  $CC -O2 -w -Imodules -c "$build/texts.c" -o "$build/obj/texts.o"
}

program () {
  $CC $CFLAGS $1 -I"$build/lua5.4/src" -c modules/static.c \
    -o "$build/obj/static.o" &&
  $CC -static -s "$build"/obj/*.o "$build/zlib/libz.a" -lm -lpthread -o "$bin"
}

# In a directory that has nothing else: no C library, no /proc, no /dev.
tried () {
  [ "$(id -u)" = 0 ] || unshare --map-root-user true 2>/dev/null ||
    { echo "not tried alone: that needs root, or user namespaces"; return 0; }
  mkdir -p "$build/root" && cp "$bin" "$build/root/" &&
  echo 'print(string.rep("-", 3))' >"$build/root/try.lua" || return
  set -- chroot "$build/root" /tracegrip-static
  [ "$(id -u)" = 0 ] || set -- unshare --map-root-user "$@"
  rm -f "$build"/root/try.tgr
  "$@" record -o /try.tgr /try.lua >/dev/null && "$@" report /try.tgr >/dev/null
}

mkdir -p "$build/obj"
kernel
source_of lua5.4 'lua-5.4*' || fail "Lua's source is not to be had"
source_of zlib 'zlib*' || fail "zlib's source is not to be had"
zlib || fail "zlib: see $build/zlib.log"
lua || fail "Lua does not compile"
with=
if source_of libuv1 'libuv*' && source_of lua-luv '*luv-*'; then
  luv && with=-DTG_STATIC_LUV
fi
if [ -z "$with" ]; then
  echo "without luv, which is not to be had: no attach, serve, top or view" >&2
  rm -f "$build"/obj/luv.o "$build"/obj/uv_*.o
fi
core && texts && program "$with" || fail "see above"
tried || fail "it does not run where there is nothing else"
echo "  $(($(wc -c <"$bin") / 1024)) KiB  $bin"

#!/bin/sh
# versions.sh BUILD [SOURCES] - tracegrip with other releases of Lua: builds each,
# compiles what includes Lua's headers with its own, and runs the specs in SPECS on
# it (`make matrix`). One module is for all releases of a version, as it comes in
# a package.
#
# versions.sh BUILD SOURCES list - only gets the releases, and prints where they
# are.
#
# SOURCES has releases as lua.org gives them, lua-5.4.8.tar.gz (or .xz) or
# unpacked. Without it they come from Debian, which has few: the packages lua5.4
# and lua5.5 of the suites below, as they were released (*.orig.tar.gz). Of these,
# releases that are not known here are told and left out: what Debian takes up
# one day should not break what is tried on every change.

build=$1
sources=$2
lists=$3
suites="stable unstable"
known=" 5.1.5 5.2.4 5.3.6 5.4.0 5.4.2 5.4.4 5.4.6 5.4.7 5.4.8 5.4.9 5.5.0 5.5.1 "
. build-aux/debian.sh
. build-aux/releases.sh

fetch () {      # into $build/fetched; true if anything came
  lists "$build/fetched" deb-src $suites || return
  for package in $(echo "${SERIES:-45}" | sed "s/./ lua5.&/g"); do
    for version in $(offered $package); do
      case $known in
        *" ${version%%-*} "*) tarball $package "$version" ;;
        *) echo "not run: Lua ${version%%-*} (unknown to versions.sh)" ;;
      esac
    done
  done
  ls "$fetched"/*.orig.tar.* >/dev/null 2>&1
}

compiles () {   # DIRECTORY: with the headers there
  skin=$(sed -n '/lua\.h from/,/^`/s,^    \([a-z]*\)/ .*,csrc/\1/*.c,p' \
    csrc/README.md)
  ${CC:-cc} -fsyntax-only -w -Werror=implicit-function-declaration -std=c11 \
    -D_GNU_SOURCE -Icsrc -I"$1/src" csrc/lib.c $skin
}

try () {        # DIRECTORY: a release
  case $1 in
    */lua-5.4.*) lua=lua5.4; headers=/usr/include/lua5.4 ;;
    *) lua=$1/lua; headers=$1/src ;;
  esac
  interpreter "$1" && compiles "$1" &&
  make --no-print-directory matrix LUA="$lua" LUA_INCDIR="$headers" \
    LUAS="$1/lua" SPEC="$SPECS"
}

mkdir -p "$build"
build=$(cd "$build" && pwd)
if [ -n "$sources" ]; then
  unpack "$sources"
elif fetch; then
  unpack "$fetched"
elif [ -n "$lists" ]; then
  exit 0
else
  echo "not run: other releases of Lua (LUASRC=DIR, or apt-get, has none)"
  exit 0
fi

if [ -n "$lists" ]; then
  echo $releases
  exit 0
fi

failed=
for directory in $releases; do
  try "$directory" || failed="$failed $(basename "$directory")"
done
[ -z "$failed" ] || { echo "versions: failed:$failed" >&2; exit 1; }

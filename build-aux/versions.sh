#!/bin/sh
# versions.sh BUILD [SOURCES] - tracegrip with other releases of Lua: builds each,
# compiles what includes Lua's headers with its own, and runs the specs in SPECS on
# it (`make matrix`). One module is for all releases of a version, as it comes in
# a package.
#
# SOURCES has releases as lua.org gives them, lua-5.4.8.tar.gz (or .xz) or
# unpacked. Without it they come from Debian, which has few: the packages lua5.4
# and lua5.5 of the suites below, as they were released (*.orig.tar.gz). Of these,
# releases that are not known here are told and left out: what Debian takes up
# one day should not break what is tried on every change.

build=$1
sources=$2
suites="stable unstable"
known=" 5.4.0 5.4.2 5.4.4 5.4.6 5.4.7 5.4.8 5.4.9 5.5.0 5.5.1 "
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# From where the machine's own packages come, but with lists of its own: what the
# machine installs stays what it is.
apt () {        # COMMAND ARGUMENTS...
  command=$1
  shift
  "$command" -qq -o Dir::Etc::sourcelist="$fetched/sources.list" \
    -o Dir::Etc::sourceparts=- -o Dir::State::lists="$fetched/lists" \
    -o Dir::State::status="$fetched/status" -o Dir::Cache="$fetched/cache" \
    -o APT::Sandbox::User= -o Acquire::http::Timeout=20 "$@" 2>/dev/null
}

fetch () {      # into $build/fetched; true if anything came
  fetched=$(mkdir -p "$build/fetched" && cd "$build/fetched" && pwd)
  mkdir -p "$fetched/lists/partial" "$fetched/cache"
  : >"$fetched/status"
  site=$(apt-get indextargets --format '$(SITE)' 'Component: main' |
         grep -v security | head -n 1)
  for suite in $suites; do
    echo "deb-src [signed-by=$keyring] $site $suite main"
  done >"$fetched/sources.list"
  apt apt-get update || return
  for package in lua5.4 lua5.5; do
    apt apt-cache showsrc $package | sed -n 's/^Version: //p' | sort -u |
    while read -r version; do
      case $known in
        *" ${version%%-*} "*) ;;
        *) echo "not run: Lua ${version%%-*} (unknown to versions.sh)"
           continue ;;
      esac
      (cd "$fetched" &&
       apt apt-get source --download-only --tar-only $package="$version")
    done
  done
  ls "$fetched"/*.orig.tar.* >/dev/null 2>&1
}

# What a directory has of releases, into $build/lua-X.Y.Z, named in $releases.
unpack () {     # DIRECTORY
  for from in "$1"/lua*; do
    release=$(basename "$from" | sed -n 's/^lua[-0-9._]*\(5\.[45]\.[0-9]*\).*/\1/p')
    to=$build/lua-$release
    [ -n "$release" ] || continue
    releases="$releases $to"
    [ ! -d "$to" ] || continue
    mkdir -p "$to"
    case $from in
      *.tar.*) tar xf "$from" -C "$to" --strip-components=1 ;;
      *) cp -R "$from"/. "$to" ;;
    esac
    [ -d "$to/src" ] || { mkdir "$to/src"; mv "$to"/*.[ch] "$to/src"; }
  done
}

interpreter () {        # DIRECTORY: builds DIRECTORY/lua
  [ -x "$1/lua" ] ||
  (cd "$1/src" && rm -f luac.c &&
   ${CC:-cc} -w -O2 -std=gnu99 -DLUA_USE_LINUX -DLUA_COMPAT_5_3 -Wl,-E -o ../lua \
     l*.c -lm -ldl)
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

releases=
mkdir -p "$build"
build=$(cd "$build" && pwd)
if [ -n "$sources" ]; then
  unpack "$sources"
elif fetch; then
  unpack "$fetched"
else
  echo "not run: other releases of Lua (LUASRC=DIR, or apt-get, has none)"
  exit 0
fi

failed=
for directory in $releases; do
  try "$directory" || failed="$failed $(basename "$directory")"
done
[ -z "$failed" ] || { echo "versions: failed:$failed" >&2; exit 1; }

# releases.sh - interpreters of releases of Lua, built from what lua.org gives:
# lua-5.4.8.tar.gz (or .xz), or unpacked; or *.orig.tar.* of Debian's packages. To
# be included (.) by a script that has a directory $build. Of 5.4 and 5.5, which
# tracegrip runs in; SERIES=12345: of all from 5.1 on, which it looks into.

releases=       # directories that unpack has made: $build/lua-X.Y.Z

unpack () {     # DIRECTORY: what it has of releases
  for from in "$1"/lua*; do
    release=$(basename "$from" |
      sed -n "s/^lua[-0-9._]*\(5\.[${SERIES:-45}]\.[0-9][0-9]*\).*/\1/p")
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

# Old releases take LUA_USE_LINUX for readline, too.
system () {     # DIRECTORY
  case $1 in
    */lua-5.[123].*) echo -DLUA_USE_POSIX -DLUA_USE_DLOPEN ;;
    *) echo -DLUA_USE_LINUX ;;
  esac
}

interpreter () {        # DIRECTORY: builds DIRECTORY/lua
  [ -x "$1/lua" ] ||
  (cd "$1/src" && rm -f luac.c &&
   ${CC:-cc} -w -O2 -std=gnu99 -DLUA_COMPAT_5_3 $(system "$1") -Wl,-E \
     -o ../lua l*.c -lm -ldl)
}

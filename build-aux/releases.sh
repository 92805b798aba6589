# releases.sh - interpreters of releases of Lua, built from what lua.org gives:
# lua-5.4.8.tar.gz (or .xz), or unpacked; or *.orig.tar.* of Debian's packages. To
# be included (.) by a script that has a directory $build.

releases=       # directories that unpack has made: $build/lua-X.Y.Z

unpack () {     # DIRECTORY: what it has of releases
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

#!/bin/sh
# tracegrip, from the tree it was built in: `make` copies this file to
# build/bin/tracegrip, with the version of Lua that it builds for. Works from any
# directory and through symbolic links.
#
# LUA names the interpreter (lua5.4). The user's LUA_INIT is meant for the
# program that is traced: it is kept away from the interpreter that runs the
# command line, which hands it on.

version=5.4
self=$(readlink -f -- "$0") || exit 1
TRACEGRIP_LIB=${self%/bin/*}/lib/lua/$version
export TRACEGRIP_LIB

tree=${self%/*}
while [ -n "$tree" ] && [ ! -f "$tree/lua/tracegrip/cli/launcher.lua" ]; do
  tree=${tree%/*}
done

aside () {      # NAME: LUA_NAME, if it is set, becomes TRACEGRIP_NAME
  eval "[ -n \"\${LUA_$1+set}\" ] && export \"TRACEGRIP_$1=\$LUA_$1\""
  unset "LUA_$1"
}

aside INIT
aside "INIT_${version%.*}_${version#*.}"

exec "${LUA:-lua$version}" "$tree/lua/tracegrip/cli/launcher.lua" "$@"

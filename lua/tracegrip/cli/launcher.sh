#!/bin/sh
# tracegrip, from the tree it was built in: `make` copies this file to
# build/bin/tracegrip. Works from any directory and through symbolic links.
#
# LUA names the interpreter (lua5.4). The user's LUA_INIT is meant for the
# program that is traced: it is kept away from the interpreter that runs the
# command line, which hands it on.

self=$(readlink -f -- "$0") || exit 1
TRACEGRIP_LIB=${self%/bin/*}/lib/lua/5.4
export TRACEGRIP_LIB

tree=${self%/*}
while [ -n "$tree" ] && [ ! -f "$tree/lua/tracegrip/cli/launcher.lua" ]; do
  tree=${tree%/*}
done

if [ -n "${LUA_INIT_5_4+set}" ]; then
  TRACEGRIP_INIT_5_4=$LUA_INIT_5_4
  export TRACEGRIP_INIT_5_4
  unset LUA_INIT_5_4
fi
if [ -n "${LUA_INIT+set}" ]; then
  TRACEGRIP_INIT=$LUA_INIT
  export TRACEGRIP_INIT
  unset LUA_INIT
fi

exec "${LUA:-lua5.4}" "$tree/lua/tracegrip/cli/launcher.lua" "$@"

#!/bin/sh
# matrix.sh LUA... - runs the specs in SPECS under each of these interpreters.
#
# Modules come from where $LUA finds them: other interpreters have other
# directories by default, or were never installed.

set -e
LUA_PATH_5_4=$("$LUA" -e 'io.write(package.path)')
LUA_CPATH_5_4=$("$LUA" -e 'io.write(package.cpath)')
export LUA_PATH_5_4 LUA_CPATH_5_4

failed=0
for lua do
  lua=$(command -v "$lua")      # specs run it from other directories
  case $lua in
    /*) ;;
    *) lua=$PWD/$lua ;;
  esac
  echo "== $lua: $("$lua" -v)"
  LUA=$lua build-aux/suite.sh busted --lua="$lua" || failed=1
done
exit $failed

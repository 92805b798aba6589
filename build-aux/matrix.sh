#!/bin/sh
# matrix.sh LUA... - runs the specs in SPECS under each of these interpreters.
#
# Modules come from where $HOST finds them: other interpreters have other
# directories by default, or were never installed. Busted, whose modules are for
# Lua 5.4, runs under each that is one; under $HOST if that is another version.

set -e
LUA_PATH_5_4=$("$HOST" -e 'io.write(package.path)')
LUA_CPATH_5_4=$("$HOST" -e 'io.write(package.cpath)')
export LUA_PATH_5_4 LUA_CPATH_5_4

failed=0
for lua do
  lua=$(command -v "$lua")      # specs run it from other directories
  case $lua in
    /*) ;;
    *) lua=$PWD/$lua ;;
  esac
  said=$("$lua" -v)
  case $said in
    "Lua 5.4"*) host=$lua ;;
    *) host=$HOST ;;
  esac
  echo "== $lua: $said"
  LUA=$lua build-aux/suite.sh busted --lua="$host" || failed=1
done
exit $failed

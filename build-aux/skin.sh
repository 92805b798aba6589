#!/bin/sh
# skin.sh - the C files that speak Lua: those which include one of its headers,
# or a header of ours that does, directly or not. All others are plain C.
names='lua|lauxlib|lualib'
before=
while [ "$names" != "$before" ]; do
  before=$names
  found=$(grep -lE "^#include [<\"]($names)\.h" csrc/*.h |
          sed 's,.*/,,; s,\.h$,,')
  names=$(printf '%s\n' lua lauxlib lualib $found | sort | paste -sd '|')
done
grep -lE "^#include [<\"]($names)\.h" csrc/*.c

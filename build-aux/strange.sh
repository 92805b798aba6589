#!/bin/sh
# strange.sh SOURCE BUILD - the proof of the layout (csrc/direct) against
# interpreters that are not built as it expects.
#
# SOURCE has the source of a release of Lua. Each variant is a copy in which
# one declaration is changed: the proof must object, and not crash. The release
# as it is must pass.

set -u
source=$1
build=$2
failed=0

objection () {  # NAME FILE EDIT: of the release with FILE edited
  dir=$build/strange/$1
  rm -rf "$dir"
  mkdir -p "$dir"
  cp "$source"/l*.[ch] "$dir"
  rm -f "$dir/lua.c" "$dir/luac.c"
  sed "$3" "$source/$2" >"$dir/$2"
  if [ -n "$3" ] && cmp -s "$dir/$2" "$source/$2"; then
    echo "nothing was changed"
    return 1
  fi
  ${CC:-cc} -w -std=gnu11 -DLUA_USE_LINUX -D_GNU_SOURCE -O1 -Icsrc -I"$dir" \
    spec/support/objection.c csrc/direct/*.c "$dir"/l*.c -o "$dir/objection" \
    -lpthread -lm -ldl && timeout 20 "$dir/objection"
}

try () {        # WANTED NAME FILE EDIT: WANTED is "none" or "any"
  said=$(objection "$2" "$3" "$4") || said="failed: $said"
  case $1:$said in
    none:none) verdict=ok ;;
    *:failed*|*:none|none:*|*:) verdict=WRONG; failed=1 ;;
    *) verdict=ok ;;
  esac
  printf '%-5s %-10s %s\n' "$verdict" "$2" "$said"
}

more='long strange;'
try none release lobject.h ''
try any prototype lobject.h "s/^  int linedefined;/  $more &/"
try any string lobject.h "s/^  l[su]_byte shrlen;/  int strange; &/"
try any userdata lobject.h "/^typedef struct Udata/,/^}/s/^  struct Table/  $more &/"
try any table lobject.h "/^typedef struct Table {/,/^}/s/^  struct Table/  $more &/"
try any node lobject.h 's/^    int next;/    long next;/'
try any closure lobject.h "s/^  struct Proto \*p;/  $more &/"
try any header lobject.h "s/define CommonHeader	struct GCObject \*next;/& $more/"
try any state lstate.h "/^struct lua_State {/,/^}/s/^  StkId[A-Za-z]* top;/  $more &/"
try any frame lstate.h "/struct CallInfo {/,/^}/s/^  StkId[A-Za-z]*[[:space:]]*top;/  $more &/"
try any small luaconf.h 's,^#define LUA_32BITS	0,#define LUA_32BITS	1,
  s,^/\* #define LUA_32BITS \*/,#define LUA_32BITS,'
exit $failed

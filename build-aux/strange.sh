#!/bin/sh
# strange.sh SOURCE BUILD - the proofs of the layout (csrc/direct, and
# csrc/outside for who looks in) against interpreters that are not built as they
# expect.
#
# SOURCE has the source of a release of Lua. Each variant is a copy in which
# one declaration is changed: both proofs must object, and not crash. The release
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
    spec/support/objection.c csrc/base/*.c csrc/signal/*.c csrc/layout/*.c \
    csrc/direct/*.c "$dir"/l*.c -o "$dir/objection" \
    -lpthread -lm -ldl && timeout 20 "$dir/objection"
}

# What tracegrip dump says of the variant while it waits: "none", or why not.
refusal () {    # NAME
  dir=$build/strange/$1
  ${CC:-cc} -w -std=gnu11 -DLUA_USE_LINUX -D_GNU_SOURCE -O1 -Wl,-E -I"$dir" \
    "$source/lua.c" "$dir"/l*.c -o "$dir/lua" -lm -ldl || return
  mkfifo "$dir/in"
  (cd "$dir" && exec ./lua -e 'local function f (n) io.open("word", "w"):close()
      return n, io.read() end local n = f(1)' <in) &
  waits=$!
  exec 9>"$dir/in"
  while [ ! -e "$dir/word" ] && kill -0 $waits 2>/dev/null; do sleep 0.1; done
  said=$(timeout 20 "$build/bin/tracegrip" dump $waits 2>&1 >"$dir/seen")
  status=$?
  exec 9>&-
  wait $waits
  case $status in
    0) echo none ;;
    1) echo "${said#*in it, }" ;;
    *) echo "failed: $said" ;;
  esac
}

judge () {      # WANTED NAME SAID: WANTED is "none" or "any"
  case $1:$3 in
    none:none) verdict=ok ;;
    *:failed*|*:none|none:*|*:) verdict=WRONG; failed=1 ;;
    *) verdict=ok ;;
  esac
  printf '%-5s %-10s %s\n' "$verdict" "$2" "$3"
}

try () {        # WANTED NAME FILE EDIT
  said=$(objection "$2" "$3" "$4") || said="failed: $said"
  judge "$1" "$2" "$said"
  said=$(refusal "$2") || said="failed: $said"
  judge "$1" "  outside" "$said"
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

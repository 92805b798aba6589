#!/bin/sh
# jitlayouts.sh BUILD SOURCES - compares csrc/layout/jitrows.h with what LuaJITs
# say of themselves: compiles jitlayout.c with the headers of each source tree
# that is a folder of SOURCES. Each must be like one of the columns.
#
# jitlayouts.sh BUILD SOURCES write - makes that file anew, from the trees that
# are called as the columns are.

build=$1
sources=$2
rows=csrc/layout/jitrows.h
columns="2020-09 2021-03 2024-04 2025-11 2026-07 openresty"

printed () {    # TREE; its rows
  ${CC:-cc} -w -I"$1/src" build-aux/jitlayout.c -o "$build/layout.run" &&
    "$build/layout.run"
}

table () {      # FILE...
  awk -F'\t' '
    FNR == 1 { n++ }
    { value[$1, n - 1] = $2 }
    NR == FNR { names[++rows] = $1; what[$1] = $3 }
    END {
      for (r = 1; r <= rows; r++) {
        name = names[r]
        line = sprintf("%-24s", "JIT(" name ",")
        for (i = 0; i < n - 1; i++)
          line = line sprintf("%7d,", value[name, i])
        line = line sprintf("%11s", value[name, n - 1] ")")
        note = (what[name] == "") ? "" : "/* " what[name] " */"
        if (length(line " " note) <= 80)
          print line (note == "" ? "" : " " note)
        else
          print note "\n" line
      }
    }' "$@"
}

written () {
  files=
  for column in $columns; do
    printed "$sources/$column" >"$build/$column" || return 1
    files="$files $build/$column"
  done
  cat <<'END'
/*
** jitrows.h - where things stand in the memory of LuaJIT 2.1, on x86-64 with
** GC64. Made by `make jitlayouts WRITE=1`; not to be edited. The includer
** defines JIT.
**
** All of them say 2.1: a column is for what was made from that month on, up to
** the next column's; the last one for OpenResty's branch, of 2021 to 2024.
**
** AT_: bytes from an object's beginning. SIZE_: bytes. Others are values. -1:
** there is no such thing.
*/
END
  printf "/*%22s" ""
  for column in $columns; do
    printf ' %s' "$column"
  done
  printf ' */\n'
  table $files
}

# The rows of a column, in the form of jitlayout.c.
expected () {   # NUMBER, from 2 on
  sed -n 's/^JIT(\([A-Z_]*\),\(.*\)).*/\1,\2/p' "$rows" | tr -d ' ' |
    awk -F, -v i="$1" '{ print $1 "\t" $i }'
}

fitting () {    # TREE; the column it is like
  printed "$1" | cut -f1,2 >"$build/tree"
  i=2
  for column in $columns; do
    if expected $i | cmp -s - "$build/tree"; then
      echo "$column"
      return
    fi
    i=$((i + 1))
  done
  return 1
}

mkdir -p "$build"
if [ "$3" = write ]; then
  written >"$build/rows.h" && mv "$build/rows.h" "$rows"
  exit
fi
passed=0
failed=0
for tree in "$sources"/*; do
  [ -f "$tree/src/lj_obj.h" ] || continue
  if column=$(fitting "$tree"); then
    echo "${tree##*/}: $column"
    passed=$((passed + 1))
  else
    echo "${tree##*/}: like no column of $rows"
    failed=$((failed + 1))
  fi
done
[ $passed != 0 ] || [ $failed != 0 ] ||
  echo "not run: layouts of LuaJIT (JITSRC=DIR has none)"
echo "layouts of LuaJIT: $passed passed, $failed failed"
[ $failed = 0 ]

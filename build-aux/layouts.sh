#!/bin/sh
# layouts.sh BUILD [SOURCES] - compares csrc/layout/rows.h with what releases of
# Lua say of themselves: compiles layout.c with the headers of each release that
# versions.sh finds.
#
# layouts.sh BUILD SOURCES write - makes that file anew. SOURCES must have one
# release of each column.

build=$1
rows=csrc/layout/rows.h
# A column: from which release on, and one whose headers it is made of.
columns="5.1.0:5.1.1 5.1.3:5.1.5
         5.2.0:5.2.0 5.2.1:5.2.3 5.2.4:5.2.4
         5.3.0:5.3.0 5.3.1:5.3.1 5.3.2:5.3.2 5.3.3:5.3.3 5.3.4:5.3.6
         5.4.0:5.4.0 5.4.1:5.4.1 5.4.2:5.4.2 5.4.3:5.4.3 5.4.4:5.4.8
         5.5.0:5.5.0 5.5.1:5.5.1"

printed () {    # DIRECTORY: a release; its rows into DIRECTORY/layout
  ${CC:-cc} -w -ffunction-sections -fdata-sections -Wl,--gc-sections \
    -I"$1/src" build-aux/layout.c -o "$1/layout.run" &&
  "$1/layout.run" >"$1/layout"
}

# Rows of several releases side by side, as they stand in the header: a line for
# those up to 5.3, and one for the others.
table () {      # FILE...
  awk -F'\t' -v columns="$(echo $columns)" '
    function version (i) { return substr(since[i + 1], 1, 3) }
    function alike (name,  i) {         # in all of 5.4, and in all of 5.5
      for (i = 1; i < n; i++)
        if (version(i) >= 5.4 && version(i) == version(i - 1) &&
            value[name, i] != value[name, i - 1]) return 0
      return 1
    }
    BEGIN { split(columns, since, " ") }
    FNR == 1 { n++ }
    { value[$1, n - 1] = $2 == "-" ? -1 : $2 }
    NR == FNR { names[++rows] = $1; what[$1] = $3 }
    END {
      for (r = 1; r <= rows; r++) {
        name = names[r]
        line = sprintf("%-25s", (alike(name) ? "SAME(" : "DIFF(") name ",")
        for (i = 0; i < n; i++) {
          if (version(i) == 5.4 && version(i - 1) == 5.3) {
            if (length(line) > 80) gsub(/ +/, " ", line)
            line = line "\n" sprintf("%25s", "")
          }
          line = line sprintf("%4d", value[name, i]) (i < n - 1 ? "," : ")")
        }
        note = (what[name] == "") ? "" : "/* " what[name] " */\n"
        print note line
      }
    }' "$@"
}

header () {
  cat <<'END'
/*
** rows.h - where things stand in the interpreter's memory, on 64 bits: what
** releases of Lua say of themselves. Made by `make layouts WRITE=1`; not to be
** edited. The includer defines SAME and DIFF: whether all releases of 5.4 agree
** on the row, and all of 5.5.
**
** AT_: bytes from an object's beginning. SIZE_: bytes. Others are values. -1:
** the release has none. A column (columns.h) is for the release that it names
** and those after it, up to the next column's.
*/
END
  printf '/*%23s' ""
  for column in $columns; do
    [ "${column%:*}" != 5.4.0 ] || printf '\n%25s' ""
    printf '%5s' "$(echo "${column%:*}" | tr -d .)"
  done
  printf ' */\n'
}

written () {    # prints the file that the releases in $build make
  files=
  for column in $columns; do
    files="$files $build/lua-${column#*:}/layout"
  done
  header
  table $files
}

# The rows of that release as the file has them, in the form of layout.c.
expected () {   # RELEASE
  i=0
  for column in $columns; do
    [ "$(printf '%s\n' "${column%:*}" "$1" | sort -V | head -n 1)" != \
      "${column%:*}" ] || i=$((i + 1))
  done
  sed -n '/^[A-Z]*([A-Z_]*,/{N; s/^[A-Z]*(\([A-Z_]*\),\(.*\))$/\1,\2/p;}' "$rows" |
    tr -d ' ' | paste -d '' - - |
    awk -F, -v i=$i '{ print $1 "\t" ($(i + 1) == -1 ? "-" : $(i + 1)) }'
}

compare () {    # DIRECTORY: a release
  release=${1##*/lua-}
  expected "$release" >"$1/layout.expected"
  cut -f1,2 "$1/layout" |
    diff "$1/layout.expected" - >"$1/layout.diff" ||
    { echo "Lua $release has other rows than $rows:"; cat "$1/layout.diff"; }
  [ ! -s "$1/layout.diff" ]
}

releases=$(SERIES=12345 build-aux/versions.sh "$build" "$2" list) || exit 1
build=$(cd "$build" && pwd)
passed=0
failed=0
for directory in $releases; do
  if ! printed "$directory"; then
    failed=$((failed + 1))
  elif [ "$3" = write ] || compare "$directory"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
done
[ "$3" != write ] || [ $failed != 0 ] || written >"$rows"
[ -n "$releases" ] ||
  echo "not run: layouts of releases (LUASRC=DIR, or apt-get, has none)"
echo "layouts: $passed passed, $failed failed"
[ $failed = 0 ]

#!/bin/sh
# importers.sh BUILD [FROM] - puts what reads exports into BUILD/importers: npm
# packages, as spec/importers/package-lock.json has them, and our scripts; or
# those of another folder into one of its name.
#
# Where that cannot be had, BUILD/importers/missing says why, and it is no
# failure; in CI it is one.

from=${2:-spec/importers}
to=$1/${from##*/}
lock=package-lock.json

mkdir -p "$to" || exit 1
rm -f "$to/missing"

missing () {
  echo "importers: $*; exports are not tried with them" | tee "$to/missing" >&2
  [ -z "$CI" ]
  exit
}

new_enough () {
  node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)'
}

command -v node >/dev/null || missing "no Node.js here"
new_enough || missing "Node.js is older than 20"
command -v npm >/dev/null || missing "no npm here"

cp "$from"/*.mjs "$from/package.json" "$to" || exit 1

if ! cmp -s "$from/$lock" "$to/$lock" || [ ! -d "$to/node_modules" ]; then
  cp "$from/$lock" "$to"
  (cd "$to" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error \
     >npm.log 2>&1) || {
    rm -f "$to/$lock"
    missing "npm cannot fetch them ($(grep -m1 . "$to/npm.log"))"
  }
fi

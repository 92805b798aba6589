#!/bin/sh
# arm64.sh BUILD - tracegrip on aarch64: what is built for it with a cross compiler,
# and programs of the specs in SPECS, run under qemu's emulation of a processor.
# Busted is the machine's own.
#
# BUILD/root has Lua and the libraries, Debian's for arm64 of the release that this
# machine has. It is kept for the next time.

build=$(mkdir -p "$1" && cd "$1" && pwd)
root=$build/root
libraries=$root/usr/lib/aarch64-linux-gnu
headers=$root/usr/include
. build-aux/debian.sh

fill () {
  rm -rf "$root.new"
  lists "$build/fetched" "deb arch=arm64" "$(suite)" &&
  packages arm64 "$root.new" lua5.4 liblua5.4-dev zlib1g-dev libc6-dev \
    libwslay-dev libcurl4-openssl-dev lua-cjson lua-luv lua-filesystem &&
  mv "$root.new" "$root"
}

# The command by which specs and what they trace know the interpreter.
interpreter () {
  cat >"$build/lua" <<END
#!/bin/sh
exec $qemu -L '$root' -0 "\$0" '$root/usr/bin/lua5.4' "\$@"
END
  chmod 755 "$build/lua"
  "$build/lua" -v
}

# A program that starts its interpreter again, as tracegrip record does, asks the
# kernel, which knows no aarch64. Since Linux 6.7 processes can tell it for
# themselves alone; where that is refused, what the machine has told it counts.
told='mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
  printf %s ":arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00'\
'\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff'\
'\xff\xfe\xff\xff\xff:$0:PF" >/proc/sys/fs/binfmt_misc/register'

emulated () {   # COMMAND...
  export QEMU_LD_PREFIX="$root"
  if unshare -rm sh -c "$told" "$qemu" 2>/dev/null; then
    unshare -rm sh -c "$told && exec \"\$@\"" "$qemu" "$@"
  else
    echo "arm64: the kernel is not told of qemu: no program starts Lua"
    "$@"
  fi
}

[ -d "$root" ] || fill || {
  echo "not run: arm64 (Debian's packages for it are not to be had)"
  exit 0
}
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
interpreter || exit
emulated env LIMIT=1200 \
  make --no-print-directory spec SPEC= SPECS="$SPECS" BUILD="$build" \
  LUA="$build/lua" LUA_INCDIR="$headers/lua5.4" WSLAY_INCDIR="$headers" \
  CURL_INCDIR="$headers/aarch64-linux-gnu/curl" \
  FOREIGN="$libraries/lua/5.4/?.so" \
  CC="aarch64-linux-gnu-gcc --sysroot=$root"

# kernel.sh - the kernel's headers, which musl-gcc does not find. Beside them are
# glibc's, which it must not find. To be included (.) by a script that has a
# directory $build.

kernel () {     # into $build/kernel
  mkdir -p "$build/kernel"
  for part in linux asm-generic "$(gcc -print-multiarch)/asm"; do
    ln -sfn "/usr/include/$part" "$build/kernel/$(basename "$part")"
  done
}

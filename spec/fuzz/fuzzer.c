/* fuzzer.c - the target as clang's libFuzzer calls it; see `make fuzz`. */
#include "pieces.h"
#include "target.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t most,
                                unsigned seed);
size_t LLVMFuzzerMutate (uint8_t *data, size_t size, size_t most);

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  fuzz_one(data, size);
  return 0;
}

/* Three times in four inside of a piece. */
size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t most,
                                unsigned seed) {
  size_t changed = 0;
  if ((seed >> 30) != 0)
    changed = fuzz_change(data, size, most, (uint32_t)seed, LLVMFuzzerMutate);
  return changed > 0 ? changed : LLVMFuzzerMutate(data, size, most);
}

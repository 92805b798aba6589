/*
** pieces.h - a recording taken apart, changed and put together again.
**
** Bytes changed at random break a block's size or an entry's, and what comes
** after is not looked at. So most changes are made inside one *piece*, an entry
** or an event, and all that encloses it is made to agree.
*/
#ifndef TG_FUZZ_PIECES_H
#define TG_FUZZ_PIECES_H

#include "base/base.h"

/* Changes the 'size' bytes at 'data', of which there may be 'most' then, and
   says how many there are: LLVMFuzzerMutate, or one's own. */
typedef size_t fuzz_Change (uint8_t *data, size_t size, size_t most);

/*
** Changes a recording at 'data', which is to have at most 'most' bytes, inside
** of one of its pieces. Returns its new size; 0 if it has no pieces.
*/
size_t fuzz_change (uint8_t *data, size_t size, size_t most, uint32_t seed,
                    fuzz_Change *change);

/* Without what is not needed: the header's and the blocks' unused room. */
size_t fuzz_pack (uint8_t *data, size_t size);

#endif

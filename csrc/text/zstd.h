/*
** zstd.h - bytes packed and unpacked by libzstd, where the machine has it.
**
** The library is found when it is first asked for and stays loaded. It is not
** linked: a build needs none of its files, and a machine without it has all but
** what is packed. Only functions are needed that libzstd.so.1 has in each of
** its releases from 1.4 on.
**
** Plain C; a tg_Zstd is one thread's at a time. It allocates when it is first
** used, and refused memory shows as bytes that could not be packed.
*/
#ifndef TG_ZSTD_H
#define TG_ZSTD_H

#include "base/base.h"

#define TG_ZSTD_LIBRARY "libzstd.so.1"

typedef struct tg_Zstd {
  void *packs;            /* owns; libzstd's own state, NULL before its use */
  bool noise;             /* which is set for bytes in which little repeats */
  void *unpacks;          /* owns; the same */
} tg_Zstd;

/* Whether there is such a library. */
bool tg_zstd_there (void);

/* Room that packed bytes need at most; 0 without the library. */
size_t tg_zstd_bound (size_t size);

/* How many bytes they are, packed into 'to'; 0 without the library, without
   memory, and if that has no room for them. */
size_t tg_zstd_pack (tg_Zstd *z, const void *data, size_t size, void *to,
                     size_t room);

/* The same of bytes of which some come more often than others, and little else
   is to be found in them: nothing is looked for, so they are packed in a third
   of the time, to as few. */
size_t tg_zstd_pack_noise (tg_Zstd *z, const void *data, size_t size, void *to,
                           size_t room);

/* Allocates what tg_zstd_unpack would; false as there. */
bool tg_zstd_ready (tg_Zstd *z);

/* Unpacks exactly 'size' bytes; false of others, of what was not packed or has
   changed since, without memory and without the library. */
bool tg_zstd_unpack (tg_Zstd *z, const void *data, size_t packed, void *to,
                     size_t size);

/* Zeroed memory is fine. */
void tg_zstd_free (tg_Zstd *z);

#endif

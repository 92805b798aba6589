/*
** zstd.c - see zstd.h. Looked for once in a process, by whoever needs it first;
** never in a signal handler.
*/
#include "text/zstd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"

/* As zstd.h of the library has them, whose numbers are promised to stay. */
#define LEVEL_PARAMETER 100       /* ZSTD_c_compressionLevel */
#define CHECKSUM_PARAMETER 201    /* ZSTD_c_checksumFlag */
#define LEVEL 1                   /* a third or fourth one takes half as much
                                     again for two bytes of a hundred */

/* Of noise: so low a level looks at one place in a thousand for bytes that came
   before; and what is left is to be told by Huffman codes, which such a level
   does not by itself. The number of that parameter is not promised to stay: a
   library that refuses it packs noise as all else. */
#define NOISE_LEVEL (-1000)
#define LITERALS_PARAMETER 1002   /* ZSTD_c_literalCompressionMode */
#define LITERALS_AUTO 0
#define LITERALS_PACKED 1

static struct {
  pthread_once_t once;
  bool there;
  size_t (*bound) (size_t size);
  unsigned (*is_error) (size_t code);
  void *(*new_packing) (void);
  size_t (*free_packing) (void *c);
  size_t (*set) (void *c, int parameter, int value);
  size_t (*pack) (void *c, void *to, size_t room, const void *data,
                  size_t size);
  size_t (*unpacking_size) (void);
  void *(*place_unpacking) (void *memory, size_t size);
  void *(*new_unpacking) (void);
  size_t (*free_unpacking) (void *c);
  size_t (*unpack) (void *c, void *to, size_t room, const void *data,
                    size_t size);
} library = {.once = PTHREAD_ONCE_INIT};

static bool find_symbol (void *handle, const char *name, void *to) {
  void *symbol = dlsym(handle, name);
  memcpy(to, &symbol, sizeof symbol);
  return symbol != NULL;
}

static void find_library (void) {
  void *h = dlopen(TG_ZSTD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  library.there =
    h != NULL
    && find_symbol(h, "ZSTD_compressBound", &library.bound)
    && find_symbol(h, "ZSTD_isError", &library.is_error)
    && find_symbol(h, "ZSTD_createCCtx", &library.new_packing)
    && find_symbol(h, "ZSTD_freeCCtx", &library.free_packing)
    && find_symbol(h, "ZSTD_CCtx_setParameter", &library.set)
    && find_symbol(h, "ZSTD_compress2", &library.pack)
    && find_symbol(h, "ZSTD_createDCtx", &library.new_unpacking)
    && find_symbol(h, "ZSTD_freeDCtx", &library.free_unpacking)
    && find_symbol(h, "ZSTD_decompressDCtx", &library.unpack);
  if (library.there
      && !(find_symbol(h, "ZSTD_estimateDCtxSize", &library.unpacking_size)
           && find_symbol(h, "ZSTD_initStaticDCtx", &library.place_unpacking)))
    library.place_unpacking = NULL;
}

bool tg_zstd_there (void) {
  pthread_once(&library.once, find_library);
  return library.there;
}

size_t tg_zstd_bound (size_t size) {
  return tg_zstd_there() ? library.bound(size) : 0;
}

static bool begin_packing (tg_Zstd *z) {
  if (z->packs != NULL)
    return true;
  z->packs = tg_zstd_there() ? library.new_packing() : NULL;
  if (z->packs == NULL)
    return false;
  library.set(z->packs, LEVEL_PARAMETER, LEVEL);
  library.set(z->packs, CHECKSUM_PARAMETER, 1);
  return true;
}

/* For bytes of this sort, from now on. */
static void set_noise (tg_Zstd *z, bool noise) {
  int literals = noise ? LITERALS_PACKED : LITERALS_AUTO;
  if (z->noise == noise
      || library.is_error(library.set(z->packs, LITERALS_PARAMETER, literals)))
    return;
  library.set(z->packs, LEVEL_PARAMETER, noise ? NOISE_LEVEL : LEVEL);
  z->noise = noise;
}

static size_t pack (tg_Zstd *z, bool noise, const void *data, size_t size,
                    void *to, size_t room) {
  if (!begin_packing(z))
    return 0;
  set_noise(z, noise);
  size_t n = library.pack(z->packs, to, room, data, size);
  return library.is_error(n) ? 0 : n;
}

size_t tg_zstd_pack (tg_Zstd *z, const void *data, size_t size, void *to,
                     size_t room) {
  return pack(z, false, data, size, to, room);
}

size_t tg_zstd_pack_noise (tg_Zstd *z, const void *data, size_t size, void *to,
                           size_t room) {
  return pack(z, true, data, size, to, room);
}

/* In memory of ours, where the library can do that: then it asks for none, and
   its packed bytes can be read in a child that may not (base/apart.h). */
static void *begin_unpacking (void) {
  if (!tg_zstd_there())
    return NULL;
  if (library.place_unpacking == NULL)
    return library.new_unpacking();
  size_t size = library.unpacking_size();
  void *memory = tg_malloc(size);
  void *made = memory != NULL ? library.place_unpacking(memory, size) : NULL;
  if (made == NULL)
    tg_free(memory);
  return made;            /* it begins where the memory does */
}

static void end_unpacking (void *c) {
  if (library.place_unpacking == NULL)
    library.free_unpacking(c);
  else
    tg_free(c);
}

bool tg_zstd_ready (tg_Zstd *z) {
  if (z->unpacks == NULL)
    z->unpacks = begin_unpacking();
  return z->unpacks != NULL;
}

bool tg_zstd_unpack (tg_Zstd *z, const void *data, size_t packed, void *to,
                     size_t size) {
  return tg_zstd_ready(z)
         && library.unpack(z->unpacks, to, size, data, packed) == size;
}

void tg_zstd_free (tg_Zstd *z) {
  if (z->packs != NULL)
    library.free_packing(z->packs);
  if (z->unpacks != NULL)
    end_unpacking(z->unpacks);
  memset(z, 0, sizeof *z);
}

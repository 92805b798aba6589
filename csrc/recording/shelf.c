/*
** shelf.c - see shelf.h.
**
** Called by the store with its mutex held, on the thread of whoever moves a
** cursor; the last one to unpin it frees it. A block that cannot be read is
** NULL with errno, and the store notes TG_ERR_IO.
*/
#include "recording/shelf.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "text/fileio.h"

typedef struct Shelf {
  tg_Supply supply;       /* first */
  int fd;                 /* owns */
  tg_Block *spare;        /* owns; the latest that came back, for the next */
  size_t spare_size;      /* 0 without one */
} Shelf;

static Shelf *shelf_of (tg_Supply *y) {
  return (Shelf *)(void *)y;      /* first member */
}

/* Blocks that are not quite full can take one another's place. */
static size_t room_for (size_t size) {
  return size < TG_CHUNK_SIZE ? TG_CHUNK_SIZE : size;
}

/* The spare block, if it is large enough: fresh memory costs as much as what is
   read into it, for the system has to zero its pages. */
static tg_Block *take_memory (Shelf *shelf, size_t size) {
  tg_Block *b = shelf->spare;
  tg_assert((b != NULL) == (shelf->spare_size > 0));
  if (size > shelf->spare_size)
    return tg_malloc(room_for(size));
  shelf->spare = NULL;
  shelf->spare_size = 0;
  return b;
}

/* What the head in the file says of its size is not believed here: 'size' is
   what was found to be good when the recording was opened. */
static tg_Block *shelf_load (tg_Supply *y, uint64_t place, size_t size) {
  tg_assert(size >= sizeof(tg_Block));
  tg_Block *b = take_memory(shelf_of(y), size);
  if (b == NULL)
    return NULL;
  if (!tg_fileio_read(shelf_of(y)->fd, b, size, place)) {
    tg_free(b);
    return NULL;
  }
  tg_block_commit(b, (const uint8_t *)b + size);
  return b;
}

/* One block is kept, the larger one: a reader goes from block to block, and
   needs as many as it gives back. */
static void shelf_release (tg_Supply *y, tg_Block *b, size_t size) {
  Shelf *shelf = shelf_of(y);
  tg_assert(b != shelf->spare);
  if (room_for(size) <= shelf->spare_size) {
    tg_free(b);
    return;
  }
  tg_free(shelf->spare);
  shelf->spare = b;
  shelf->spare_size = room_for(size);
}

/* Called when the last chunk has gone: no block is out any more. */
static void shelf_free (tg_Supply *y) {
  close(shelf_of(y)->fd);
  tg_free(shelf_of(y)->spare);
  tg_free(y);
}

/* A descriptor of its own: whoever opens the recording closes theirs. NULL with
   errno. */
tg_Supply *tg_shelf_new (int fd) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  Shelf *shelf = copy >= 0 ? tg_calloc(1, sizeof *shelf) : NULL;
  if (shelf == NULL) {
    if (copy >= 0) {
      close(copy);
      errno = ENOMEM;
    }
    return NULL;
  }
  shelf->supply = (tg_Supply){
    .pins = 1, .load = shelf_load, .release = shelf_release,
    .free = shelf_free
  };
  shelf->fd = copy;
  return &shelf->supply;
}

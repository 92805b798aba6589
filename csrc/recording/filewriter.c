/*
** filewriter.c - see filewriter.h.
**
**     header | entries | events | events | entries | events |   (reserved)
**                                                  ^ end     ^ reserved
**
** Everything up to 'end' belongs to a block; what is reserved beyond is zeros,
** and is given back at the close. The file itself is mappedfile.c's business,
** what stands in blocks of entries entrywriter.c's; both are told here when to
** stop. Blocks of entries stay mapped as long as the file: how a trace ended is
** written into its entry.
**
** Called on the traced thread, mostly in the hook, when a chunk is full or a
** function is new; supply_release by whoever lets a chunk go, on any thread.
** What those share, the lists of events' blocks and 'running', is under the
** store's mutex. The first failure stays and is in the header too.
*/
#include "recording/filewriter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "recording/entrywriter.h"
#include "recording/mappedfile.h"
#include "recording/packer.h"
#include "text/zstd.h"

struct tg_FileWriter {
  tg_Supply supply;       /* first */
  tg_Stream *stream;      /* borrows while 'running' */
  bool running;           /* the stream writes here (its store's mutex) */
  bool ring;
  int error;              /* why it was stopped */
  int starved;            /* why a ring's file could not grow for the last
                             block; 0: it could */
  size_t wanted;          /* of that block */
  tg_MappedFile file;     /* owns */
  uint64_t length;        /* of the file when it is closed */
  uint64_t kept;          /* the end of blocks of events that are no more in any
                             list */
  tg_Header *header;      /* maps */
  tg_Pieces entries;      /* maps each */
  tg_Pieces events;       /* the same; with cursors or with the writer */
  const tg_Block *current;  /* borrows; of these the one that is written */
  size_t largest;         /* of those that were ever made... */
  size_t made;            /* ...and bytes of all of them */
  tg_Pieces free;         /* the same; of a ring, to be used again */
  tg_Packer *packer;      /* owns; NULL: blocks stay as they are */
  tg_EntryWriter writer;  /* owns; of entries */
};

/* Where a file is to be, and of whom: zeroed memory is fine. */
void tg_fileplan_free (tg_FilePlan *p) {
  tg_free(p->path);
  tg_program_free(&p->program);
  memset(p, 0, sizeof *p);
}

/* The path from the root on: the program may change its directory before the
   file is made, or before it is removed. */
bool tg_fileplan_fix (tg_FilePlan *p) {
  char *here = *p->path != '/' ? getcwd(NULL, 0) : NULL;
  if (here == NULL)
    return true;          /* it is so already, or nobody knows where it is */
  size_t size = strlen(here) + strlen(p->path) + 2;
  char *path = tg_malloc(size);
  if (path != NULL) {
    snprintf(path, size, "%s/%s", here, p->path);
    tg_free(p->path);
    p->path = path;
  }
  free(here);
  return path != NULL;
}

int tg_filewriter_error (const tg_FileWriter *t) {
  return t->error;
}

bool tg_filewriter_full (const tg_FileWriter *t) {
  return t->error != 0 && t->file.full;
}

const char *tg_filewriter_path (const tg_FileWriter *t) {
  return t->file.path;
}

/*
** {==================================================================
** Blocks
** ===================================================================
*/

/* Nothing more goes on the file, for this reason; a reader of the file is told
   it by the header, at once. */
static void fail (tg_FileWriter *t, int error) {
  if (t->error == 0) {
    t->error = error != 0 ? error : EIO;
    tg_assert(t->header != NULL);
    if (!t->file.full)
      t->header->error = (uint32_t)t->error;
  }
}

/* A ring that could not grow goes on in the blocks that it has, if some are
   given back in time; whoever has tried that in vain says so here. */
void tg_filewriter_starve (tg_FileWriter *t) {
  if (t->starved != 0)
    fail(t, t->starved);
}

/* The disk, a quota, a limit of the process. */
static bool is_want_of_room (int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* A block that is mapped and kept in 'all'; NULL with errno. */
static tg_Block *map_block (tg_FileWriter *t, tg_Pieces *all, size_t size) {
  tg_Piece piece = {.place = t->file.end, .size = size};
  piece.block = tg_mappedfile_map(&t->file, size);
  if (piece.block == NULL)
    return NULL;
  if (!tg_pieces_add(all, &piece)) {
    munmap(piece.block, size);
    errno = ENOMEM;
    return NULL;
  }
  return piece.block;
}

/* A ring's blocks stay mapped, so the largest one is there. */
bool tg_filewriter_starved (const tg_FileWriter *t) {
  return t->starved != 0 && t->wanted <= t->largest;
}

/* How large a block is made for so many bytes at least. */
static size_t size_to_make (const tg_FileWriter *t, size_t least) {
  size_t page = tg_mappedfile_page();
  size_t size = tg_fileformat_grown(t->made, TG_EVENTS_FIRST, TG_CHUNK_SIZE);
  return size >= least ? size : (least + page - 1) / page * page;
}

/* Of a ring there are few sizes, since they are used again. */
static size_t size_to_share (size_t least) {
  size_t size = TG_CHUNK_SIZE;
  while (size < least && size <= UINT32_MAX / 2)
    size *= 2;
  return size >= least ? size : least;
}

/* One of a ring's that was given back; NULL: there is none of that size. */
static tg_Block *use_again (tg_FileWriter *t, size_t *size) {
  tg_Piece *e = tg_pieces_smallest(&t->free, *size);
  if (e == NULL || !tg_pieces_add(&t->events, e))
    return NULL;
  *size = e->size;
  return tg_pieces_take(&t->free, (uint32_t)(e - t->free.list)).block;
}

/* The packer works on mapped memory alone, so what it lacks is mapped here. */
static bool map_room (void *ud, size_t size, tg_Piece *empty) {
  tg_FileWriter *t = ud;
  size_t page = tg_mappedfile_page();
  size = size <= TG_CHUNK_SIZE ? TG_CHUNK_SIZE
         : (size + page - 1) / page * page;
  bool full = t->file.full;       /* is said of events */
  *empty = (tg_Piece){.place = t->file.end, .size = size};
  empty->block = tg_mappedfile_map(&t->file, size);
  t->file.full = full;
  if (empty->block != NULL)
    tg_block_begin(empty->block, TG_BLOCK_EVENTS, size, 0, 0);
  return empty->block != NULL;
}

static void provide_room (tg_FileWriter *t) {
  tg_Piece empty;
  size_t wanted = tg_packer_wants(t->packer);
  if (wanted > 0 && map_room(t, wanted, &empty))
    tg_packer_give(t->packer, &empty);
  else if (wanted > 0)
    tg_packer_refuse(t->packer);
}

/* One whose events have been packed; NULL: there is none of that size. */
static tg_Block *use_packed (tg_FileWriter *t, size_t *size, bool urgent) {
  tg_Piece e;
  if (t->packer == NULL)
    return NULL;
  provide_room(t);
  if (!tg_packer_take(t->packer, *size, urgent, &e))
    return NULL;
  if (!tg_pieces_add(&t->events, &e)) {
    tg_packer_give(t->packer, &e);
    return NULL;
  }
  *size = e.size;
  return e.block;
}

/* A block at the end of the file. NULL: the file has failed, or starves. */
static tg_Block *new_block (tg_FileWriter *t, size_t *size) {
  tg_Block *b = map_block(t, &t->events, *size);
  if (b != NULL) {
    t->made += *size;
    t->largest = *size > t->largest ? *size : t->largest;
    return b;
  }
  int error = errno;
  if (is_want_of_room(error) && (b = use_packed(t, size, true)) != NULL)
    return b;
  if (t->ring && is_want_of_room(error)) {
    t->starved = error;
    t->wanted = *size;
  }
  else
    fail(t, error);
  return NULL;
}

/* A chunk for the stream; with the store's mutex. A ring takes one that was
   given back before it makes the file longer: so the file has the size of what
   is kept. */
static tg_Block *supply_obtain (tg_Supply *y, size_t least, size_t *size) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  tg_assert(t->running);
  t->starved = 0;
  if (t->error != 0)
    return NULL;
  tg_Block *b = t->ring ? use_again(t, size) : NULL;
  if (b == NULL) {
    *size = t->ring ? size_to_share(*size) : size_to_make(t, least);
    b = use_packed(t, size, false);
  }
  if (b == NULL)
    b = new_block(t, size);
  t->current = b;
  return b;
}

/* A copy of a block in its place, of this process alone; false without memory:
   then it is what the parent writes on. Moved there by mremap, which replaces
   the mapping in one step: cursors have its address. */
static bool make_private (const tg_Piece *e) {
  void *copy = mmap(NULL, e->size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED)
    return false;
  memcpy(copy, e->block, e->size);
  if (mremap(copy, e->size, e->size, MREMAP_MAYMOVE | MREMAP_FIXED, e->block)
      != MAP_FAILED)
    return true;
  munmap(copy, e->size);
  return false;
}

/* The block that is written last is packed as well. Its bytes may still be read
   by cursors, which get a copy of it: then its place in the file is empty. */
static void pack_current (tg_FileWriter *t) {
  tg_Piece *e = tg_pieces_find(&t->events, t->current);
  static const uint32_t none = 0;
  if (e == NULL || !tg_packer_copy(t->packer, e->block) || !make_private(e))
    return;
  tg_mappedfile_write(&t->file, e->place + offsetof(tg_Block, used), &none,
                      sizeof none);
  e->place = TG_PIECES_NOWHERE;
}

/* With all that is mapped in mind: the end of the last block that has bytes, of
   which the rest is cut off. */
static uint64_t end_of (const tg_Pieces *all, uint64_t end) {
  for (uint32_t i = 0; i < all->count; i++) {
    const tg_Piece *e = &all->list[i];
    uint64_t own = e->place + sizeof(tg_Block) + tg_block_used(e->block);
    if (e->place != TG_PIECES_NOWHERE && own > end)
      end = own;
  }
  return end;
}

/* The file is to be as long as its last block has bytes. That is looked at
   here, where no cursor gives a block back meanwhile: nothing is written any
   more but into entries that are there. */
static void supply_left (tg_Supply *y) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  t->running = false;
  if (t->packer != NULL)
    pack_current(t);
  t->length = end_of(&t->entries, end_of(&t->events, t->kept));
  if (t->packer != NULL
      && tg_rooms_end(tg_packer_rooms(t->packer)) > t->length)
    t->length = tg_rooms_end(tg_packer_rooms(t->packer));
}

/* What a ring does not need any more is not in its file any more: else a reader
   would find blocks with gaps between them. */
static bool keeps_released (tg_FileWriter *t, const tg_Piece *e) {
  if (!t->running || e->place == TG_PIECES_NOWHERE)
    return false;
  if (t->ring) {
    tg_block_commit(e->block, e->block->data);
    return tg_pieces_add(&t->free, e);
  }
  return t->packer != NULL && tg_packer_add(t->packer, e);
}

static void supply_release (tg_Supply *y, tg_Block *b, size_t size) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  tg_Piece *found = tg_pieces_find(&t->events, b);
  tg_assert(found != NULL && found->size == size);
  (void)size;
  tg_Piece e = tg_pieces_take(&t->events, (uint32_t)(found - t->events.list));
  if (keeps_released(t, &e))
    return;
  if (t->running && t->packer != NULL)
    e.block->unpacked = TG_BLOCK_STAYS;
  munmap(e.block, e.size);
  if (e.place != TG_PIECES_NOWHERE && e.place + e.size > t->kept)
    t->kept = e.place + e.size;
}

/* Also of a file writer of which only a part was made. */
static void supply_free (tg_Supply *y) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  tg_assert(!t->running);
  if (t->header != NULL)
    munmap(t->header, tg_mappedfile_page());
  tg_pieces_unmap(&t->entries);
  tg_pieces_unmap(&t->events);
  tg_pieces_unmap(&t->free);
  tg_packer_free(t->packer);
  tg_mappedfile_free(&t->file);
  tg_entrywriter_free(&t->writer);
  tg_free(t);
}

/* }================================================================== */

/*
** {==================================================================
** Entries
** ===================================================================
*/

/* A block of entries, for the entry writer. */
static tg_Block *map_entries (void *ud, size_t size) {
  tg_FileWriter *t = ud;
  return map_block(t, &t->entries, size);
}

/* Called for each definition before an event can refer to it (functions.h). */
static void write_function (void *file, tg_FunctionId id,
                            const tg_Function *f) {
  tg_FileWriter *t = file;
  if (t->error == 0 && !tg_entrywriter_function(&t->writer, id, f))
    fail(t, errno);
}

/* The trace's number in this file, by which its end is filled in; 0: it is not
   there, and then there is no end to be told either. */
uint32_t tg_filewriter_started (tg_FileWriter *t, const tg_TraceEntry *entry) {
  uint32_t number = 0;
  if (t->error == 0 && !tg_entrywriter_trace(&t->writer, entry, &number))
    fail(t, errno);
  return number;
}

/* The trace has begun anew: the place in its entry is another one now. */
void tg_filewriter_moved (tg_FileWriter *t, uint32_t number,
                          const tg_TraceEntry *entry) {
  tg_entrywriter_moved(&t->writer, number, entry);
}

void tg_filewriter_ended (tg_FileWriter *t, uint32_t number,
                          const tg_TraceEnd *end) {
  if (t != NULL)
    tg_entrywriter_ended(&t->writer, number, end);
}

/* }================================================================== */

/*
** {==================================================================
** Begin and end
** ===================================================================
*/

/* The header takes a page of its own: it stays mapped when blocks go. */
static bool write_header (tg_FileWriter *t, uint32_t run) {
  const tg_Clock *clock = &t->stream->clock;
  size_t size = tg_mappedfile_page();
  tg_Header h = {
    .version = TG_FORMAT_VERSION, .size = (uint32_t)size,
    .order = TG_FORMAT_ORDER, .state = TG_FILE_RUNNING,
    .pid = (uint32_t)getpid(), .origin = clock->origin,
    .ns_per_tick = clock->ns_per_tick, .ring = t->ring, .run = run,
    .packed = t->packer != NULL, .wall_ns = t->stream->wall_ns
  };
  memcpy(h.magic, TG_FORMAT_MAGIC, sizeof h.magic);
  if (!tg_mappedfile_begin(&t->file, &h, sizeof h))
    return false;
  t->header = tg_mappedfile_map(&t->file, size);
  if (t->header == NULL)
    return false;
  t->stream->noted = &t->header->ticking;
  tg_stream_note_ticking(t->stream);
  return true;
}

/* All that events to come may name is there before the first of them. */
static bool write_beginning (tg_FileWriter *t, const tg_FilePlan *plan) {
  const tg_Functions *fs = t->stream->functions;
  if (!write_header(t, plan->run))
    return false;
  if (!tg_entrywriter_program(&t->writer, &plan->program)
      || !tg_entrywriter_costs(&t->writer, &t->stream->costs))
    return false;
  const tg_Function *f;
  for (tg_FunctionId id = 1; (f = tg_functions_find(fs, id)) != NULL; id++)
    write_function(t, id, f);
  errno = t->error;
  return t->error == 0;
}

/* With the lock that says that somebody records on it (claim.h), which the
   system takes away when the process ends, however that is. */
static bool open_file (tg_FileWriter *t, const tg_FilePlan *plan) {
  tg_MappedPath where = {
    .path = plan->path, .exclusive = plan->exclusive, .run = plan->run,
    .force = plan->force
  };
  return tg_mappedfile_open(&t->file, &where);
}

/* Most programs that are short have few functions and few events: then entries
   have a small block, and events the last one, which is cut. Where blocks of
   events are large in any case, as in a ring or where they come from elsewhere,
   one of entries behind them keeps them from being cut. */
static bool starts_small (const tg_FilePlan *plan) {
  return !plan->ring && !plan->program.remote;
}

/* In this order: the file is good for readers before the stream knows of it,
   and the functions that there are stand in it before it hears of new ones. A
   file that was made and cannot be begun is removed. */
tg_FileWriter *tg_filewriter_new (const tg_FilePlan *plan, tg_Stream *stream) {
  tg_assert(plan->path != NULL);
  tg_FileWriter *t = tg_calloc(1, sizeof *t);
  if (t == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  t->supply = (tg_Supply){
    .pins = 1, .obtain = supply_obtain, .left = supply_left,
    .release = supply_release, .free = supply_free
  };
  t->file.fd = -1;
  t->stream = stream;
  t->ring = plan->ring;
  t->file.limit = plan->max_size;
  t->file.size.tells = plan->tells;
  /* the library is loaded now: later it would be in the hook */
  if (plan->packs && !plan->ring && tg_zstd_there())
    t->packer = tg_packer_new();
  t->writer = (tg_EntryWriter){
    .first = starts_small(plan) ? TG_ENTRIES_FIRST : 0,
    .sources = plan->sources, .map = map_entries, .ud = t
  };
  errno = ENOMEM;
  if (!open_file(t, plan) || !write_beginning(t, plan)) {
    int error = errno;
    stream->noted = NULL;
    if (t->file.made)
      tg_mappedfile_remove(&t->file);
    tg_supply_unpin(&t->supply);
    errno = error;
    return NULL;
  }
  t->running = true;
  tg_store_supply(&stream->store, &t->supply);
  tg_functions_watch(stream->functions, write_function, t);
  return t;
}

/* The stream goes on in memory: the next chunk is the memory's. What waits to
   be packed is packed now. */
void tg_filewriter_stop (tg_FileWriter *t) {
  if (!t->running)
    return;
  if (t->packer != NULL)
    tg_packer_finish(t->packer, map_room, t);
  tg_functions_watch(t->stream->functions, NULL, NULL);
  t->stream->noted = NULL;
  tg_store_supply(&t->stream->store, NULL);
}

/* Only when no block comes back to it any more, or in a child. */
static void let_packer_go (tg_FileWriter *t) {
  tg_packer_free(t->packer);
  t->packer = NULL;
}

/* What rooms have is nobody's any more, but would take room on the disk. */
static void punch (void *ud, uint64_t place, uint64_t size) {
  tg_FileWriter *t = ud;
  tg_mappedfile_punch(&t->file, place, size);
}

static void close_as (tg_FileWriter *t, tg_FileState state) {
  tg_filewriter_stop(t);
  if (t->packer != NULL)
    tg_rooms_punch(tg_packer_rooms(t->packer), t->length, punch, t);
  let_packer_go(t);
  tg_mappedfile_cut(&t->file, t->length);
  t->header->state = t->error == 0 || t->file.full ? state : TG_FILE_FAILED;
  tg_mappedfile_unlock(&t->file);
  tg_supply_unpin(&t->supply);
}

/* The length before the state: a file that says that it is complete is so. */
void tg_filewriter_close (tg_FileWriter *t) {
  if (t != NULL)
    close_as(t, TG_FILE_COMPLETE);
}

void tg_filewriter_leave (tg_FileWriter *t) {
  close_as(t, TG_FILE_RUNNING);
}

/* The name goes first, so that nobody finds a file that is about to go. */
void tg_filewriter_discard (tg_FileWriter *t) {
  tg_mappedfile_remove(&t->file);
  tg_filewriter_close(t);
}

/* The file is let go of at once: as long as anybody has it, it counts as being
   recorded. */
bool tg_filewriter_abandon (tg_FileWriter *t) {
  bool all = true;
  let_packer_go(t);
  tg_filewriter_stop(t);
  for (size_t i = 0; i < t->events.count; i++)
    all = make_private(&t->events.list[i]) && all;
  tg_pieces_unmap(&t->entries);
  tg_pieces_unmap(&t->free);
  munmap(t->header, tg_mappedfile_page());
  t->header = NULL;
  tg_mappedfile_close(&t->file);
  tg_supply_unpin(&t->supply);
  return all;
}

/* }================================================================== */

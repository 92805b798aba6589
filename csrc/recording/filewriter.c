/*
** filewriter.c - see filewriter.h.
**
**     header | entries | events | events | entries | events |   (reserved)
**                                                  ^ end     ^ reserved
**
** Everything up to 'end' belongs to a block; what is reserved beyond is zeros,
** and is given back at the close. The file itself is mappedfile.c's business,
** its blocks of events eventblocks.c's, what stands in blocks of entries
** entrywriter.c's; all are told here when to stop. Blocks of entries stay
** mapped as long as the file: how a trace ended is written into its entry.
**
** Called on the traced thread, mostly in the hook, when a chunk is full or a
** function is new; supply_release by whoever lets a chunk go, on any thread.
** What those share, 'events' and 'running', is under the store's mutex. The
** first failure stays and is in the header too.
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
#include "recording/eventblocks.h"

struct tg_FileWriter {
  tg_Supply supply;       /* first */
  tg_Stream *stream;      /* borrows while 'running' */
  bool running;           /* the stream writes here (its store's mutex) */
  int error;              /* why it was stopped */
  tg_MappedFile file;     /* owns */
  uint64_t length;        /* of the file when it is closed */
  tg_Header *header;      /* maps */
  tg_Pieces entries;      /* maps each */
  tg_EventBlocks events;  /* owns (the store's mutex) */
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
  if (t->events.starved != 0)
    fail(t, t->events.starved);
}

/* A ring's blocks stay mapped, so the largest one is there. */
bool tg_filewriter_starved (const tg_FileWriter *t) {
  const tg_EventBlocks *e = &t->events;
  return e->starved != 0 && e->wanted <= e->largest;
}

/* A chunk for the stream; with the store's mutex. NULL: the file has failed, or
   starves. */
static tg_Block *supply_obtain (tg_Supply *y, size_t least, size_t *size) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  tg_assert(t->running);
  t->events.starved = 0;
  if (t->error != 0)
    return NULL;
  tg_Block *b = tg_eventblocks_obtain(&t->events, least, size);
  if (b == NULL && t->events.starved == 0)
    fail(t, errno);
  return b;
}

/* The file is to be as long as its last block has bytes. That is looked at
   here, where no cursor gives a block back meanwhile: nothing is written any
   more but into entries that are there. */
static void supply_left (tg_Supply *y) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  t->running = false;
  t->length = tg_pieces_end(&t->entries, tg_eventblocks_left(&t->events));
}

static void supply_release (tg_Supply *y, tg_Block *b, size_t size) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  tg_eventblocks_release(&t->events, b, size, t->running);
}

/* Also of a file writer of which only a part was made. */
static void supply_free (tg_Supply *y) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  tg_assert(!t->running);
  if (t->header != NULL)
    munmap(t->header, tg_mappedfile_page());
  tg_pieces_unmap(&t->entries);
  tg_eventblocks_free(&t->events);
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
  return tg_pieces_map(&t->entries, &t->file, size);
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

void tg_filewriter_misses (tg_FileWriter *t, const tg_Misses *m) {
  if (t != NULL && t->error == 0 && !tg_entrywriter_misses(&t->writer, m))
    fail(t, errno);
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
    .ns_per_tick = clock->ns_per_tick, .ring = t->events.ring, .run = run,
    .packed = t->events.packer != NULL, .wall_ns = t->stream->wall_ns
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
  t->events.file = &t->file;
  t->events.ring = plan->ring;
  t->file.limit = plan->max_size;
  t->file.size.tells = plan->tells;
  if (plan->packs && !plan->ring)
    t->events.packer = tg_packer_new();
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
  tg_eventblocks_pack(&t->events);
  tg_functions_watch(t->stream->functions, NULL, NULL);
  t->stream->noted = NULL;
  tg_store_supply(&t->stream->store, NULL);
}

static void close_as (tg_FileWriter *t, tg_FileState state) {
  tg_filewriter_stop(t);
  tg_eventblocks_close(&t->events, t->length);
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
  tg_eventblocks_unpack(&t->events);
  tg_filewriter_stop(t);
  bool all = tg_eventblocks_abandon(&t->events);
  tg_pieces_unmap(&t->entries);
  munmap(t->header, tg_mappedfile_page());
  t->header = NULL;
  tg_mappedfile_close(&t->file);
  tg_supply_unpin(&t->supply);
  return all;
}

/* }================================================================== */

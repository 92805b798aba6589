/*
** open.c - see open.h.
**
** First all heads of blocks are walked over (blockwalk.h): entries are read as
** they come, blocks of events are noted, in order of their place in the stream.
** The run of those that belongs together becomes the store, and its last block
** is looked through.
**
** Called by whoever opens a recording, on one thread, and never in the hook.
** The first system call or allocation that fails ends it ('status'); bytes that
** are not as they should be end what is read, with a reason, and all before
** them is good ('damage'). So a file of a process that was killed can be
** opened, and one that somebody is recording on too.
*/
#include "recording/open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "recording/blockwalk.h"
#include "recording/fileheader.h"
#include "recording/shelf.h"
#include "stream/eventreader.h"
#include "text/fileio.h"
#include "text/zstd.h"

typedef struct Opening {
  tg_Recording *r;
  int fd;
  tg_BlockWalk walk;      /* owns */
  bool lacks;             /* what unpacks its blocks */
  tg_Status status;       /* sticky */
} Opening;

/*
** {==================================================================
** Entries
** ===================================================================
*/

/* What is not as it should be ends what is read, with the first reason. */
static void damage (Opening *o, const char *what, uint64_t place) {
  tg_Recording *r = o->r;
  if (!r->damaged)
    snprintf(r->reason, sizeof r->reason, "%s at byte %" PRIu64, what, place);
  r->damaged = true;
}

/* Traces stand in the order in which they began. */
static tg_Status add_trace (tg_Recording *r, const tg_Entry *e) {
  if (!tg_grow(&r->traces, &r->capacity, r->count + 1, sizeof *r->traces))
    return TG_ERR_MEMORY;
  tg_Status status = tg_entry_read_trace(e, &r->traces[r->count]);
  r->count += status == TG_OK;
  return status;
}

/* Ids are given one after the other, so a function out of order is damage:
   events would name another. */
static tg_Status add_function (tg_Recording *r, const tg_Entry *e) {
  tg_Functions *fs = r->stream->functions;
  tg_FunctionId id;
  tg_Function f;
  tg_Status status = tg_entry_read_function(e, &id, &f);
  if (status != TG_OK)
    return status;
  if (id != atomic_load(&fs->count) + 1
      || id >= TG_FUNCTIONS_BLOCK * TG_FUNCTIONS_BLOCKS)
    status = TG_ERR_FORMAT;
  else if (tg_functions_add(fs, &f) == 0)
    status = TG_ERR_MEMORY;
  if (status != TG_OK)
    tg_function_clear(&f);
  return status;
}

/* Where its text is in the file, in which the entry is at 'place'. */
static tg_Status note_source (Opening *o, const tg_Entry *e,
                              uint64_t place) {
  tg_Slice url, text;
  if (tg_entry_read_source(e, &url, &text) != TG_OK || url.data == NULL
      || text.data == NULL)
    return TG_ERR_FORMAT;
  place += (uint64_t)(text.data - e->data);
  bool noted = tg_sources_note(&o->r->stream->sources, o->fd, url, place,
                               text.size);
  return noted ? TG_OK : TG_ERR_MEMORY;
}

/* Of a program told twice the later one counts. Kinds that are not known are
   passed over: a later version may have more. */
static tg_Status read_entry (Opening *o, const tg_Entry *e, uint64_t place) {
  tg_Recording *r = o->r;
  switch ((tg_EntryKind)e->kind) {
    case TG_ENTRY_PROGRAM:
      tg_program_free(&r->program);
      return tg_entry_read_program(e, &r->program);
    case TG_ENTRY_FUNCTION: return add_function(r, e);
    case TG_ENTRY_TRACE: return add_trace(r, e);
    case TG_ENTRY_SOURCE: return note_source(o, e, place);
    case TG_ENTRY_COSTS:
      tg_entry_read_costs(e, &r->stream->costs);
      return TG_OK;
    case TG_ENTRY_MISSES: return tg_entry_read_misses(e, &r->misses);
    case TG_ENTRY_NONE: default: return TG_OK;
  }
}

/* Up to the first entry that is not good: what follows it cannot be found,
   since each says where the next one is. */
static void read_entries (Opening *o, const uint8_t *data, uint32_t used,
                          uint64_t place, bool cut) {
  const uint8_t *p = data, *end = data + used;
  tg_Entry e;
  while (p < end && tg_entry_next(&p, end, &e)) {
    uint64_t at = place + (uint64_t)(e.data - data);
    tg_Status status = read_entry(o, &e, at);
    if (status == TG_ERR_MEMORY)
      o->status = status;
    if (status != TG_OK) {
      damage(o, "no good entry", at);
      return;
    }
  }
  if (p < end && !cut)
    damage(o, "an entry that does not end", place);
}

/* Entries are few beside events, so a block of them is read whole. Called by
   the walk over the blocks. */
static void load_entries (void *ud, const tg_Block *head, uint64_t place,
                          uint32_t used, bool cut) {
  Opening *o = ud;
  uint8_t *data = tg_malloc(used > 0 ? used : 1);
  if (data == NULL)
    o->status = TG_ERR_MEMORY;
  else if (!tg_fileio_read(o->fd, data, used, place + sizeof *head))
    o->status = TG_ERR_IO;
  else
    read_entries(o, data, used, place + sizeof *head, cut);
  tg_free(data);
  o->r->entry_bytes += head->size;
  if (o->status != TG_OK)
    o->walk.status = o->status;
}

/* }================================================================== */

/*
** {==================================================================
** The stream
** ===================================================================
*/

static void walk (Opening *o) {
  tg_Recording *r = o->r;
  o->walk = (tg_BlockWalk){
    .fd = o->fd, .bytes = r->file_bytes,
    .moving = r->busy && r->header.packed != 0 && !r->header.ring,
    .entries = load_entries, .ud = o
  };
  tg_blockwalk(&o->walk, r->header.size);
  if (o->status == TG_OK)
    o->status = o->walk.status;
  if (o->walk.damage != NULL)
    damage(o, o->walk.damage, o->walk.damaged);
  o->lacks = o->walk.packed && !tg_zstd_there();
  if (o->lacks && o->status == TG_OK)
    o->status = TG_ERR_FORMAT;
}

/* Whether the second block goes on where the first one ends. */
static bool follows (const tg_FoundBlock *x, const tg_FoundBlock *y) {
  return y->base == x->base + x->used;
}

/* The run of blocks that is read: the first one, as what follows a gap cannot
   be understood without it; of a ring, which has dropped its beginning anyway,
   the last. */
static void choose_run (const Opening *o, uint32_t *from, uint32_t *to) {
  const tg_BlockWalk *w = &o->walk;
  *from = 0;
  *to = w->count;
  for (uint32_t i = 1; i < w->count; i++) {
    if (follows(&w->list[i - 1], &w->list[i]))
      continue;
    if (!o->r->header.ring) {
      *to = i;
      return;
    }
    *from = i;
  }
}

/*
** Where the last complete event of a block ends, of 'used' bytes; '*ticks' is
** its time. Events name functions: where one is named that nobody defined (the
** file ends before its definition), what is readable ends too.
*/
static uint32_t complete (const tg_Functions *fs, const uint8_t *data,
                          uint32_t used, uint64_t *ticks) {
  uint32_t at = 0, defined = atomic_load(&fs->count);
  const uint8_t *origin = data;
  tg_Event e;
  size_t n;
  while (at < used
         && (n = tg_event_decode(&origin, data + at, used - at, &e)) > 0
         && tg_event_names(&e) <= defined) {
    *ticks = tg_event_absolute(&e) ? e.ticks : *ticks + e.ticks;
    at += (uint32_t)n;
  }
  return at;
}

/* Finds the end of the complete events in the last block; false: it has none.
   Only the last block can be torn: the others were full when their writer left
   them. */
static bool cut_last (Opening *o, tg_Supply *shelf, tg_FoundBlock *f) {
  tg_Recording *r = o->r;
  size_t size = sizeof(tg_Block) + f->used;
  tg_Block *b = shelf->load(shelf, tg_shelf_place(f), size);
  if (b == NULL) {
    o->status = errno == ENOMEM ? TG_ERR_MEMORY : TG_ERR_IO;
    return false;
  }
  tg_assert(f->used > 0);
  f->used = complete(r->stream->functions, b->data, f->used, &r->ticks);
  shelf->release(shelf, b, size);
  return f->used > 0;
}

/* In the midst; at the beginning, which a ring drops while it is recorded; or
   since the file was cut off, as what was packed does not stand in order. */
static bool lacks_blocks (const Opening *o, uint32_t from, uint32_t to) {
  const tg_Recording *r = o->r;
  if (o->walk.count == 0)
    return false;
  return (to < o->walk.count && !o->walk.moving)
         || (from > 0 && r->header.state == TG_FILE_COMPLETE)
         || (o->walk.packed && r->count > 0
             && o->walk.list[from].base > r->traces[0].start);
}

/* What has been added while the file was looked at may have gaps, and is left
   out then. Blocks at the end without a single good event are, too: the last
   event is then in the one before. Damage in others shows when a reader comes
   to it. */
static void fill_store (Opening *o, tg_Supply *shelf) {
  tg_Recording *r = o->r;
  tg_FoundBlock *list = o->walk.list;
  uint32_t from, to;
  choose_run(o, &from, &to);
  tg_assert(from <= to && to <= o->walk.count);
  if (lacks_blocks(o, from, to))
    damage(o, "blocks are missing",
           list[to < o->walk.count ? to : from].place);
  while (to > from && !cut_last(o, shelf, &list[to - 1])
         && o->status == TG_OK)
    to--;
  for (uint32_t i = from; i < to && o->status == TG_OK; i++) {
    const tg_FoundBlock *f = &list[i];
    tg_assert(i == from || follows(f - 1, f));
    if (!tg_store_add(&r->stream->store, shelf, f->base, f->packets,
                      tg_shelf_place(f), f->used))
      o->status = TG_ERR_MEMORY;
    r->event_bytes += f->used;
    r->saved_bytes += f->packed > 0 && f->packed < f->used
                      ? f->used - f->packed : 0;
    r->end = f->base + f->used;
  }
}

/* }================================================================== */

/* Whoever records has the lock (claim.h); it is held here for a moment only,
   and shared, so that two who look do not take each other for a recorder. */
static bool is_busy (int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB) != 0)
    return errno == EWOULDBLOCK;
  flock(fd, LOCK_UN);
  return false;
}

/* Whether a file that was closed properly has lost its end since; it has a
   trace at least. */
static bool is_shorter (const tg_Recording *r) {
  if (r->count == 0)
    return r->header.state == TG_FILE_COMPLETE;
  for (uint32_t i = 0; i < r->count; i++) {
    if (r->traces[i].end.stop > r->end)
      return r->header.state == TG_FILE_COMPLETE;
  }
  return false;
}

/* Whether it is of a program elsewhere, and its recorder has noted what it knew
   when the connection was closed, but no end. */
static bool is_left (const tg_Recording *r) {
  return r->program.remote && r->count > 0
         && r->traces[0].end.why == TG_END_NOT && r->traces[0].end.ticks != 0;
}

/* In words, what kept the recording from its proper end. Damage has been told
   where it was found, with its place; a file that is being written has no end
   yet, and that is told too. */
static void explain (tg_Recording *r) {
  const tg_Header *h = &r->header;
  if (r->damaged)
    return;
  if (r->shorter)
    snprintf(r->reason, sizeof r->reason, "the end of the file is missing");
  else if (h->state == TG_FILE_FAILED || h->error != 0)
    snprintf(r->reason, sizeof r->reason, "the file could not grow: %s",
             strerror((int)h->error));
  else if (h->state == TG_FILE_RUNNING && r->busy)
    snprintf(r->reason, sizeof r->reason, "process %" PRIu32
             " is recording on it", h->pid);
  else if (h->state == TG_FILE_RUNNING && is_left(r))
    snprintf(r->reason, sizeof r->reason, "the connection was closed");
  else if (h->state == TG_FILE_RUNNING)
    snprintf(r->reason, sizeof r->reason, "process %" PRIu32
             " ended without closing it", h->pid);
}

/* The header is good. What of it is needed is in the stream before any entry or
   event is looked at. */
static void read_all (Opening *o) {
  tg_Recording *r = o->r;
  uint64_t figures[TG_TICKING_FIGURES];
  tg_Supply *shelf = tg_shelf_new(o->fd);
  if (shelf == NULL)
    o->status = errno == ENOMEM ? TG_ERR_MEMORY : TG_ERR_IO;
  else if ((r->stream = tg_stream_new()) == NULL)
    o->status = TG_ERR_MEMORY;
  else {
    r->stream->clock.origin = r->header.origin;
    r->stream->clock.ns_per_tick = r->header.ns_per_tick;
    r->stream->wall_ns = r->header.wall_ns;
    r->stream->pid = r->header.pid;
    tg_ticking_get(&r->header.ticking, figures);
    tg_ticking_set(&r->stream->ticking, figures);
    r->ticks = r->header.origin;
    if (r->header.state > TG_FILE_FAILED)
      damage(o, "an impossible state", offsetof(tg_Header, state));
    walk(o);
    if (r->program.remote)
      r->stream->pid = r->program.pid;
    if (o->status == TG_OK && r->program.directory != NULL
        && (r->stream->directory = tg_strcopy(r->program.directory)) == NULL)
      o->status = TG_ERR_MEMORY;
    if (o->status == TG_OK && !tg_shelf_keep(shelf, &o->walk))
      o->status = TG_ERR_MEMORY;
    tg_shelf_count(shelf, &r->stream->costs);
    if (o->status == TG_OK)
      fill_store(o, shelf);
  }
  tg_supply_unpin(shelf);
}

/* False with the status set, and with a reason in words if the file is none of
   ours. First of all whether it is being written: one that is closed meanwhile
   has moved blocks, and what is read after that is as it stays. */
static bool look (Opening *o, char *reason, size_t size) {
  tg_Recording *r = o->r;
  const char *problem;
  r->busy = is_busy(o->fd);
  o->status = tg_fileheader_read(o->fd, &r->header, &r->file_bytes, &problem);
  if (o->status == TG_ERR_FORMAT)
    snprintf(reason, size, "%s", problem);
  return o->status == TG_OK;
}

/* Opened and read by one descriptor, which is closed again: what is read later
   has copies of it (shelf.h, sources.h), so the file may be renamed or removed
   meanwhile. */
tg_Recording *tg_recording_open (const char *path, tg_Status *status,
                                 char *reason, size_t size) {
  Opening o = {.r = tg_calloc(1, sizeof(tg_Recording)), .fd = -1};
  if (o.r == NULL)
    o.status = TG_ERR_MEMORY;
  else if ((o.fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
    o.status = TG_ERR_IO;
  else if (look(&o, reason, size)) {
    read_all(&o);
    o.r->shorter = is_shorter(o.r);
    explain(o.r);
  }
  if (o.lacks)
    snprintf(reason, size, "it is compressed, which needs libzstd "
             "(%s)", TG_ZSTD_LIBRARY);
  int error = errno;
  if (o.fd >= 0)
    close(o.fd);
  tg_blockwalk_free(&o.walk);
  *status = o.status;
  if (o.status != TG_OK) {
    tg_recording_close(o.r);
    o.r = NULL;
  }
  errno = error;
  return o.r;
}

/* Also of a recording of which only a part was opened. */
void tg_recording_close (tg_Recording *r) {
  if (r == NULL)
    return;
  tg_stream_unpin(r->stream);
  tg_program_free(&r->program);
  for (uint32_t i = 0; i < r->count; i++)
    tg_trace_entry_free(&r->traces[i]);
  tg_free(r->traces);
  tg_free(r);
}

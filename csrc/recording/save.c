/*
** save.c - see save.h.
**
** Called when a program saves a trace, on the traced thread while the stream
** goes on: a cursor keeps what is being written. Written beside the file and
** renamed when it is whole, so that a recording that was there before is there
** until then, and a disk that is full leaves it as it was. TG_ERR_IO has errno.
**
** The blocks are those of the stream, byte for byte: nothing is decoded, so to
** save takes as long as to write. Of what traces recorded at the same time the
** file has all; each reader's selection is what narrows it.
*/
#include "recording/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "recording/fileformat.h"
#include "text/fdwriter.h"
#include "text/newfile.h"

/* A file on its way. The stream is the caller's, who pins it; the first errno
   of the descriptor stays in 'out'. */
typedef struct Saving {
  tg_Stream *stream;
  tg_FdWriter out;
  tg_Buf bytes;         /* owns; of entries */
} Saving;

/* At once and not by blocks: a chunk is large, and entries have been
   gathered. */
static bool write_bytes (Saving *s, const void *data, size_t size) {
  return tg_fdwriter_write(&s->out, data, size);
}

/* As the file writer's, but of one that is complete from the start, and of no
   run: nobody takes it for one that makes way. */
static bool write_header (Saving *s) {
  const tg_Clock *clock = &s->stream->clock;
  char page[TG_HEADER_SIZE] = {0};
  tg_Header h = {
    .version = TG_FORMAT_VERSION, .size = TG_HEADER_SIZE,
    .order = TG_FORMAT_ORDER, .state = TG_FILE_COMPLETE,
    .pid = s->stream->pid, .origin = clock->origin,
    .ns_per_tick = clock->ns_per_tick, .wall_ns = s->stream->wall_ns
  };
  uint64_t figures[TG_TICKING_FIGURES];
  memcpy(h.magic, TG_FORMAT_MAGIC, sizeof h.magic);
  tg_ticking_get(&s->stream->ticking, figures);
  tg_ticking_set(&h.ticking, figures);
  memcpy(page, &h, sizeof h);
  return write_bytes(s, page, sizeof page);
}

/* A block with exactly these bytes: nothing will be added to it. */
static bool write_block (Saving *s, tg_BlockKind kind, tg_Pos base,
                         uint64_t packets, const void *data, size_t size) {
  tg_Block head;
  tg_block_begin(&head, kind, sizeof head + size, base, packets);
  tg_check(size <= UINT32_MAX - sizeof head);
  atomic_store(&head.used, (uint32_t)size);
  return write_bytes(s, &head, sizeof head) && write_bytes(s, data, size);
}

/* Program, trace, functions; a block of its own as often as one is full. All
   functions of the stream and not only the trace's: ids are then the same as in
   the events, which are copied as they are. */
static bool write_entries (Saving *s, const tg_Program *program,
                           const tg_TraceEntry *trace) {
  const tg_Functions *fs = s->stream->functions;
  const tg_Function *f;
  tg_Pos base = 0;
  tg_entry_program(&s->bytes, program);
  if (tg_costs_known(&s->stream->costs))
    tg_entry_costs(&s->bytes, &s->stream->costs);
  tg_entry_trace(&s->bytes, trace);
  for (tg_FunctionId id = 1; (f = tg_functions_find(fs, id)) != NULL; id++) {
    tg_entry_function(&s->bytes, id, f);
    if (s->bytes.size < TG_ENTRIES_SIZE)
      continue;
    if (!write_block(s, TG_BLOCK_ENTRIES, base, 0, s->bytes.data,
                     s->bytes.size))
      return false;
    base += s->bytes.size;
    tg_buf_clear(&s->bytes);
  }
  return write_block(s, TG_BLOCK_ENTRIES, base, 0, s->bytes.data,
                     s->bytes.size);
}

/* The rest of the chunk at the cursor, before 'stop'. What is committed after
   this look belongs to later traces. */
static bool write_chunk (Saving *s, const tg_Cursor *c, uint64_t packets,
                         tg_Pos stop) {
  const uint8_t *data;
  size_t size = tg_cursor_peek(c, &data);
  tg_Pos pos = tg_cursor_pos(c);
  tg_assert(size <= UINT32_MAX);
  if (pos >= stop)
    return true;
  if (size > stop - pos)
    size = (size_t)(stop - pos);
  tg_assert(pos + size <= stop);
  return size == 0
         || write_block(s, TG_BLOCK_EVENTS, pos, packets, data, size);
}

/* The blocks are the stream's chunks, as far as they are the trace's. Of a ring
   that has dropped the beginning, those that there still are; packets before
   them are counted by the chunk. */
static tg_Status write_events (Saving *s, const tg_TraceEntry *trace,
                               tg_Pos stop) {
  tg_Cursor c = {0};
  tg_Store *store = &s->stream->store;
  uint64_t packets = trace->packets;
  bool placed = tg_cursor_place(&c, store, trace->start);
  if (!placed) {
    placed = tg_cursor_first(&c, store);
    packets = placed ? c.chunk->packets : 0;
  }
  bool ok = placed && write_chunk(s, &c, packets, stop);
  while (ok && tg_cursor_advance(&c))
    ok = write_chunk(s, &c, c.chunk->packets, stop);
  tg_cursor_drop(&c);
  if (placed && !ok)
    return TG_ERR_IO;
  return store->status;
}

/* In the order that a reader needs: functions before the events that name
   them. */
static tg_Status write_all (Saving *s, const tg_Program *program,
                            const tg_TraceEntry *trace, tg_Pos stop) {
  if (!write_header(s) || !write_entries(s, program, trace))
    return s->bytes.failed ? TG_ERR_MEMORY : TG_ERR_IO;
  return write_events(s, trace, stop);
}

/* Where to write first: beside a file, or straight into what is none, as
   /dev/stdout. A descriptor, and the name to be removed or put in the place of
   'path', NULL for none; -1 with errno. */
static int open_working (const char *path, char **working) {
  struct stat st;
  *working = NULL;
  if (tg_newfile_is_link(path)) {
    errno = ELOOP;
    return -1;
  }
  if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
    return tg_newfile_open(path);
  return tg_newfile_beside(path, working);
}

/* The writer has a duplicate of the descriptor, which is none of the three
   standard ones (fdwriter.h). */
tg_Status tg_save_into (int fd, tg_Stream *stream, const tg_Program *program,
                        const tg_TraceEntry *trace, tg_Pos stop) {
  Saving s = {.stream = stream};
  tg_fdwriter_open(&s.out, fd);
  tg_Status status = write_all(&s, program, trace, stop);
  int error = s.out.error != 0 ? s.out.error : errno;
  tg_fdwriter_close(&s.out);
  tg_buf_free(&s.bytes);
  errno = error;
  return status;
}

tg_Status tg_save (const char *path, tg_Stream *stream,
                   const tg_Program *program, const tg_TraceEntry *trace,
                   tg_Pos stop) {
  char *working;
  int fd = open_working(path, &working);
  if (fd < 0)
    return TG_ERR_IO;
  tg_Status status = tg_save_into(fd, stream, program, trace, stop);
  int error = errno;
  close(fd);
  errno = error;
  if (working != NULL && !tg_newfile_place(working, path, status == TG_OK)
      && status == TG_OK)
    status = TG_ERR_IO;
  error = errno;
  tg_free(working);
  errno = error;
  return status;
}

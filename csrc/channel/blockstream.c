/*
** blockstream.c - chunks of a stream for a client, with the definitions that
** they need. Called by clientstream.c, on the server's thread, while the
** program writes on. Without memory the buffer has failed, which the caller
** looks at.
**
** Entries are those of a recording (entries.h) and a few more, each with its
** size, in the byte order of this machine: BEGIN tells the order, and a client
** with another byte order refuses the stream. client/receiver.c is the other
** end. Definitions are sent once and before the events that name them; none is
** ever taken back.
*/
#include "channel/blockstream.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "recording/entries.h"
#include "recording/fileformat.h"

#define SECOND_NS UINT64_C(1000000000)
#define PROCESS_NS (SECOND_NS / 4)

void tg_blockstream_begin (tg_BlockStream *b, uint64_t ticks, uint64_t packets,
                           const tg_LacksFrom *from) {
  *b = (tg_BlockStream){.ticks = ticks, .packets = packets, .from = *from};
}

void tg_blockstream_owe (tg_BlockStream *b) {
  if (b->given == TG_BLOCKS_ALL)
    b->given = TG_BLOCKS_PART;
}

static void put32 (tg_Buf *out, uint32_t v) {
  tg_buf_add(out, (const char *)&v, sizeof v);
}

static void put64 (tg_Buf *out, uint64_t v) {
  tg_buf_add(out, (const char *)&v, sizeof v);
}

/* Sizes are known beforehand here: numbers, or bytes that are there. */
static void put_head (tg_Buf *out, tg_BlockEntry kind, size_t size) {
  put32(out, (uint32_t)kind);
  put32(out, (uint32_t)size);
}

/* What a recording's header says of its clock, and its entry of what tracing
   costs: the client's file has that before any event. */
static void put_begin (const tg_BlockStream *b, const tg_Stream *s,
                       tg_Buf *out) {
  put_head(out, TG_BLOCKENTRY_BEGIN, 48 + 4 * TG_NCOSTS);
  put32(out, TG_FORMAT_ORDER);
  put32(out, s->pid);
  put64(out, s->wall_ns);
  put64(out, s->clock.origin);
  tg_buf_add(out, (const char *)&s->clock.ns_per_tick, sizeof(double));
  put64(out, b->ticks);
  put64(out, b->packets);
  for (int i = 0; i < TG_NCOSTS; i++)
    put32(out, s->costs.ticks[i]);
}

/* The stretch was looked at before: what its events name is defined by now. */
static void put_functions (tg_BlockStream *b, const tg_Functions *fs,
                           tg_Buf *out) {
  const tg_Function *f;
  while ((f = tg_functions_find(fs, b->functions + 1)) != NULL)
    tg_entry_function(out, ++b->functions, f);
}

/* A chunk of the stream begins: its room, the packets before it, and those that
   the ring dropped since the last stretch. */
static void put_chunk (const tg_Stretch *s, tg_Buf *out) {
  put_head(out, TG_BLOCKENTRY_CHUNK, 24);
  put64(out, s->room);
  put64(out, s->packets);
  put64(out, s->missed);
}

/* A stretch is in one chunk. Where reading begins in the middle of one, the
   chunk is told of all the same: the other side needs its room. */
static void put_stretch (tg_BlockStream *b, const tg_Stretch *s, bool first,
                         const tg_Stream *stream, tg_Buf *out) {
  put_functions(b, stream->functions, out);
  if (first || s->begins)
    put_chunk(s, out);
  put_head(out, TG_BLOCKENTRY_EVENTS, s->bytes.size);
  tg_buf_add(out, (const char *)s->bytes.data, s->bytes.size);
}

/* Not beyond the end of the trace: a client may come to that much later. The
   clock is looked at when all has been read, so nothing that was given is
   later. */
static void put_now (tg_BlockStream *b, const tg_Follower *follower,
                     uint64_t until, tg_Buf *out) {
  uint64_t now = tg_clock_ticks(), end = tg_follower_ended_at(follower);
  if (now > end)
    now = end;
  if (now > until)
    now = until;
  put_head(out, TG_BLOCKENTRY_NOW, 8);
  put64(out, now);
  b->given = TG_BLOCKS_ALL;
}

/* A trace that was stopped by its client may count on for a while in the
   program: then the client is told a little more than it lacks. */
static void put_lacks (tg_BlockStream *b, const tg_Stream *stream,
                       tg_Buf *out) {
  uint64_t n[TG_NLACKS], sum = 0;
  for (int i = 0; i < TG_NLACKS; i++)
    sum += n[i] = tg_lacks_since(&stream->lacks, &b->from, (tg_Lack)i);
  if (sum == b->lacks)
    return;
  b->lacks = sum;
  put_head(out, TG_BLOCKENTRY_LACKS, sizeof n);
  for (int i = 0; i < TG_NLACKS; i++)
    put64(out, n[i]);
}

/* Threads of this process; 0 where that is not known. */
static uint64_t count_threads (void) {
  struct stat st;
  bool known = stat("/proc/self/task", &st) == 0 && st.st_nlink > 2;
  return known ? (uint64_t)st.st_nlink - 2 : 0;
}

static uint64_t processor_ns (void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static void put_process (const tg_Stream *s, uint64_t now_ns, tg_Buf *out) {
  uint64_t figures[TG_TICKING_FIGURES];
  tg_outlook_get(&s->outlook, &s->ticking, figures);
  put_head(out, TG_BLOCKENTRY_PROCESS, 24 + sizeof figures);
  put64(out, now_ns);
  put64(out, processor_ns());
  put64(out, count_threads());
  for (int i = 0; i < TG_TICKING_FIGURES; i++)
    put64(out, figures[i]);
}

/* The program's state has no events of its own, and some may not come since the
   program's thread is in no state to write any. */
static bool process_due (tg_BlockStream *b, const tg_Follower *follower) {
  uint64_t now_ns = tg_clock_monotonic_ns();
  if (b->given == TG_BLOCKS_NOTHING || now_ns - b->process_ns < PROCESS_NS
      || tg_follower_ended_at(follower) < tg_clock_ticks())
    return false;
  b->process_ns = now_ns;
  return true;
}

void tg_blockstream_read (tg_BlockStream *b, tg_Follower *follower,
                          size_t bytes, uint64_t until, tg_Buf *out) {
  tg_Stretch s;
  size_t before = out->size;
  bool more = true;
  while (out->size - before < bytes
         && (more = tg_follower_stretch(follower, &s))) {
    bool first = b->given == TG_BLOCKS_NOTHING;
    if (first)
      put_begin(b, follower->stream, out);
    b->given = TG_BLOCKS_PART;
    put_stretch(b, &s, first, follower->stream, out);
  }
  if (!more && process_due(b, follower))
    put_process(follower->stream, b->process_ns, out);
  if (!more && b->given != TG_BLOCKS_NOTHING)
    put_lacks(b, follower->stream, out);
  if (!more && b->given == TG_BLOCKS_PART)
    put_now(b, follower, until, out);
}

bool tg_blockstream_pack (tg_Zstd *z, const tg_Buf *bytes, tg_Buf *out) {
  const size_t head = 3 * sizeof(uint32_t);
  size_t before = out->size, bound = tg_zstd_bound(bytes->size);
  if (bytes->failed || bytes->size > UINT32_MAX / 2 || bound == 0
      || !tg_buf_reserve(out, head + bound))
    return false;
  size_t n = tg_zstd_pack(z, bytes->data, bytes->size,
                          out->data + before + head, bound);
  if (n == 0 || n >= bytes->size || !tg_block_packs(bytes->size, n))
    return false;
  put_head(out, TG_BLOCKENTRY_PACKED, sizeof(uint32_t) + n);
  put32(out, (uint32_t)bytes->size);
  out->size += n;
  return true;
}

/* Few bytes are not believed to stand for very many (block.h). */
uint8_t *tg_blockstream_unpack (tg_Zstd *z, const uint8_t *data, size_t size,
                                size_t *bytes) {
  uint32_t n = 0;
  if (size >= sizeof n)
    memcpy(&n, data, sizeof n);
  errno = EBADMSG;
  if (n == 0 || !tg_block_packs(n, size - sizeof n))
    return NULL;
  uint8_t *unpacked = tg_malloc(n);
  if (unpacked == NULL)
    errno = ENOMEM;
  else if (!tg_zstd_unpack(z, data + sizeof n, size - sizeof n, unpacked, n)) {
    tg_free(unpacked);
    return NULL;
  }
  *bytes = n;
  return unpacked;
}

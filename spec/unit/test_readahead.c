/*
** test_readahead.c - packets that threads read ahead are those that are read
** here.
**
** Each test reads a stream twice and compares a digest of all packets and their
** values. On a machine with one processor no thread is made, and the same must
** come out.
*/
#include <stdlib.h>
#include <unistd.h>

#include "capture.h"
#include "export/parts.h"
#include "export/readahead.h"
#include "text/fileio.h"
#include "unit.h"

#define MANY 60000u       /* calls: several batches, several chunks */

enum { F = 1, G, WRAP };  /* functions in order of definition */

static void need_room (Tape *t) {
  const uint8_t *end = (const uint8_t *)t->chunk->block + t->chunk->size;
  if (end - t->p < 256)
    tape_chunk(t, 0);
}

/* Calls that nest at random, with values; some are in coroutines that yield
   what they were called with, which a reader has to remember. */
static Tape make (uint32_t calls, tg_Cursor *start) {
  static const uint32_t chain[] = {1, 0};
  static const char *const values[] = {NULL, "\x01\xc5", "\x02\xc1\xc2"};
  Tape t = tape_new();
  uint64_t seed = calls;
  uint32_t depth = 0;
  tg_cursor_first(start, &t.stream->store);   /* it stays */
  define(t.stream, "f", 1);
  define(t.stream, "g", 2);
  define_c(t.stream, "yield", TG_ROLE_YIELD);
  e_context(&t, 1000, 1, chain);
  for (uint32_t i = 0; i < calls; i++) {
    need_room(&t);
    uint32_t n = unit_random(&seed);
    e_call(&t, F + n % 2, 0, values[n / 2 % 3]);
    depth++;
    if (n % 97 == 0) {
      e_resume(&t, 2);
      e_call(&t, WRAP, 0, "\x01\xc7");
      e_plain(&t, TG_EV_YIELD, NULL);
    }
    for (; depth > 0 && unit_random(&seed) % 5 < 3; depth--)
      e_plain(&t, TG_EV_RETURN, values[depth % 3]);
  }
  return t;
}

static uint64_t digest (uint64_t h, const tg_Packet *p) {
  uint64_t fields[] = {p->why, p->sequence, p->time_ns, p->function,
                       p->thread, p->depth, p->values.data != NULL};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    h = (h ^ fields[i]) * UINT64_C(0x100000001b3);
  for (size_t i = 0; i < p->values.size; i++)
    h = (h ^ p->values.data[i]) * UINT64_C(0x100000001b3);
  return h;
}

typedef struct Reading {
  tg_Selection selection;
  tg_Reader *reader;
  tg_MinDuration minduration;
} Reading;

static void begin (Reading *r, const Tape *t, uint64_t min_ns) {
  tg_Options o;
  memset(r, 0, sizeof *r);
  tg_options_init(&o);
  tg_selection_add(&r->selection, &o);
  r->reader = tg_reader_new(t->stream, 0, &r->selection);
  tg_minduration_init(&r->minduration, r->reader, min_ns);
}

static void end (Reading *r) {
  tg_minduration_free(&r->minduration);
  tg_reader_free(r->reader);
  tg_selection_clear(&r->selection);
}

static uint64_t read_here (const Tape *t, uint64_t min_ns, uint64_t *n) {
  Reading r;
  tg_Packet p;
  uint64_t h = 0;
  begin(&r, t, min_ns);
  for (*n = 0; tg_minduration_next(&r.minduration, UINT64_MAX, &p); ++*n)
    h = digest(h, &p);
  end(&r);
  return h;
}

static uint64_t read_ahead (const Tape *t, uint64_t min_ns, uint64_t *n) {
  Reading r;
  tg_ReadAhead a;
  uint64_t h = 0;
  begin(&r, t, min_ns);
  tg_readahead_begin(&a, &r.minduration, UINT64_MAX, NULL, NULL);
  *n = 0;
  for (const tg_Batch *b; (b = tg_readahead_next(&a)) != NULL; *n += b->count) {
    for (uint32_t i = 0; i < b->count; i++)
      h = digest(h, &b->packets[i]);
  }
  UNIT_CHECK(!a.failed && tg_minduration_status(&r.minduration) == TG_OK);
  UNIT_CHECK(tg_readahead_next(&a) == NULL);
  tg_readahead_end(&a);
  end(&r);
  return h;
}

static void compare (uint32_t calls, uint64_t min_ns) {
  tg_Cursor start;
  Tape t = make(calls, &start);
  uint64_t here, ahead;
  uint64_t h = read_here(&t, min_ns, &here);
  UNIT_CHECK(read_ahead(&t, min_ns, &ahead) == h);
  UNIT_CHECK(here == ahead && here > 0);
  tg_cursor_drop(&start);
  tg_stream_unpin(t.stream);
}

static void many (void) {
  compare(MANY, 0);
}

static void few (void) {
  compare(3, 0);
  compare(TG_BATCH_PACKETS / 2, 0);
}

static void without_short_calls (void) {
  compare(MANY, 25);
}

/* ---- with work ---- */

static void tell (void *ud, tg_Batch *b) {
  UNIT_CHECK(ud == NULL);
  for (; b->worked < b->count; b->worked++)
    tg_buf_addfmt(&b->text, "%d ", (int)b->packets[b->worked].sequence);
}

/* Numbers from '*next' on. */
static bool counts (const tg_Buf *text, uint64_t *next) {
  const char *p = text->data;
  while (p < text->data + text->size) {
    char *stop;
    if (strtoull(p, &stop, 10) != (*next)++)
      return false;
    p = stop + 1;
  }
  return true;
}

static void worked (void) {
  tg_Cursor start;
  Tape t = make(MANY, &start);
  Reading r;
  tg_ReadAhead a;
  uint64_t next = 0, n;
  read_here(&t, 0, &n);
  begin(&r, &t, 0);
  tg_readahead_begin(&a, &r.minduration, UINT64_MAX, tell, NULL);
  for (tg_Batch *b; (b = tg_readahead_next(&a)) != NULL; ) {
    UNIT_CHECK(b->worked == b->count);
    tg_buf_addchar(&b->text, '\0');
    b->text.size--;
    UNIT_CHECK(counts(&b->text, &next));
  }
  UNIT_CHECK(next == n);
  tg_readahead_end(&a);
  end(&r);
  tg_cursor_drop(&start);
  tg_stream_unpin(t.stream);
}

/* ---- given up ---- */

static void left_early (void) {
  tg_Cursor start;
  Tape t = make(MANY, &start);
  for (int batches = 0; batches < 6; batches++) {
    Reading r;
    tg_ReadAhead a;
    begin(&r, &t, 0);
    tg_readahead_begin(&a, &r.minduration, UINT64_MAX,
                       batches % 2 ? tell : NULL, NULL);
    for (int i = 0; i < batches; i++)
      UNIT_CHECK(tg_readahead_next(&a) != NULL);
    tg_readahead_end(&a);
    end(&r);
  }
  tg_cursor_drop(&start);
  tg_stream_unpin(t.stream);
}

/* ---- parts of a document ---- */

#define ITEMS 7u

/* Part n has the items n * ITEMS to n * ITEMS + ITEMS - 1; each fifth part has
   none. */
static void put_items (void *ud, tg_Batch *b) {
  UNIT_CHECK(ud == NULL && b->count == 1 && b->packets == NULL);
  for (unsigned i = 0; b->number % 5 != 4 && i < ITEMS; i++)
    tg_buf_addfmt(&b->text, ",%u", (unsigned)b->number * ITEMS + i);
}

static void write_parts (uint64_t count, tg_Buf *to) {
  char path[] = "/tmp/parts-XXXXXX";
  int fd = mkstemp(path);
  tg_OutFile out;
  tg_Parts parts = {.count = count, .work = put_items};
  UNIT_CHECK(fd >= 0 && tg_outfile_open(&out, path));
  UNIT_CHECK(tg_parts_write(&parts, &out) && tg_outfile_close(&out));
  UNIT_CHECK(tg_fileio_text(path, SIZE_MAX / 2, to));
  unlink(path);
  close(fd);
}

static void write_here (uint64_t count, tg_Buf *to) {
  const char *before = "[";
  for (unsigned n = 0; n < count; n++) {
    for (unsigned i = 0; n % 5 != 4 && i < ITEMS; i++, before = ",")
      tg_buf_addfmt(to, "%s%u", before, n * ITEMS + i);
  }
  tg_buf_addstr(to, *before == '[' ? "[]" : "]");
}

static void in_parts (void) {
  static const uint64_t counts[] = {1, 2, 6, 1000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    tg_Buf here = {0}, parts = {0};
    write_here(counts[i], &here);
    write_parts(counts[i], &parts);
    UNIT_CHECK(here.size == parts.size
               && memcmp(here.data, parts.data, here.size) == 0);
    tg_buf_free(&here);
    tg_buf_free(&parts);
  }
}

/* The array ends where something failed, and is no array then. */
static void fail_at_third (void *ud, tg_Batch *b) {
  put_items(ud, b);
  b->text.failed = b->number == 3;
}

static void parts_that_fail (void) {
  tg_OutFile out;
  tg_Parts parts = {.count = 1000, .work = fail_at_third};
  UNIT_CHECK(tg_outfile_open(&out, "/dev/null"));
  UNIT_CHECK(!tg_parts_write(&parts, &out));
  UNIT_CHECK(tg_outfile_close(&out));
}

int main (void) {
  UNIT_RUN(many);
  UNIT_RUN(few);
  UNIT_RUN(without_short_calls);
  UNIT_RUN(worked);
  UNIT_RUN(left_early);
  UNIT_RUN(in_parts);
  UNIT_RUN(parts_that_fail);
  return UNIT_END();
}

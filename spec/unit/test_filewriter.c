/*
** test_filewriter.c - a stream on a file, and the recording that it makes: what
** was written is read again; a ring's file uses its room again; what is refused
** is an error and leaves nothing.
*/
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture.h"
#include "reader/reader.h"
#include "recording/filewriter.h"
#include "recording/open.h"
#include "unit.h"

static char path[64];

static tg_FilePlan plan_of (bool ring) {
  return (tg_FilePlan){.path = path, .ring = ring};
}

static uint64_t file_size (void) {
  struct stat st;
  return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static const uint32_t main_thread[] = {1, 0};

/* A chunk of the stream with a CONTEXT and n calls of 'f' that return, and room
   for 'need' bytes. Packets are counted in '*packets'. */
static void write_chunk (Tape *t, size_t need, tg_FunctionId f, uint32_t n,
                         uint64_t *packets) {
  t->chunk = tg_store_grow(&t->stream->store, need, *packets);
  UNIT_CHECK(t->chunk != NULL);
  if (t->chunk == NULL)
    return;
  t->p = t->chunk->block->data;
  e_context(t, *packets * 10, 1, main_thread);
  for (uint32_t i = 0; i < n; i++) {
    e_call(t, f, 0, NULL);
    e_return(t);
  }
  *packets += 2 * n;
}

static tg_Recording *open_it (void) {
  char reason[160] = "";
  tg_Status status;
  tg_Recording *r = tg_recording_open(path, &status, reason, sizeof reason);
  UNIT_CHECK((r != NULL) == (status == TG_OK));
  return r;
}

/* Packets from 'from' on. */
static uint64_t count (tg_Recording *r, tg_Pos from) {
  tg_Selection d = {0};
  tg_Options o;
  tg_Packet p;
  uint64_t n = 0;
  tg_options_init(&o);
  tg_selection_add(&d, &o);
  tg_Reader *reader = tg_reader_new(r->stream, from, &d);
  while (tg_reader_next(reader, r->end, &p))
    UNIT_CHECK(p.sequence == n++);
  UNIT_CHECK(tg_reader_status(reader) == TG_OK);
  tg_reader_free(reader);
  tg_selection_clear(&d);
  tg_options_free(&o);
  return n;
}

static uint32_t note_trace (tg_FileWriter *file, const char *name) {
  char copy[16];
  tg_TraceEntry e = {.name = strcpy(copy, name)};
  tg_options_init(&e.options);
  uint32_t number = tg_filewriter_started(file, &e);
  tg_options_free(&e.options);
  return number;
}

static void written_and_read (void) {
  tg_FilePlan plan = plan_of(false);
  Tape t = {tg_stream_new(), NULL, NULL};
  uint64_t packets = 0;
  tg_FunctionId before = define(t.stream, "before", 1);
  tg_FileWriter *file = tg_filewriter_new(&plan, t.stream);
  UNIT_CHECK(file != NULL && tg_filewriter_error(file) == 0
             && strcmp(tg_filewriter_path(file), path) == 0);
  uint32_t number = note_trace(file, "whole");
  UNIT_CHECK(number == 1 && note_trace(file, "other") == 2);
  tg_FunctionId after = define(t.stream, "after", 2);
  write_chunk(&t, 4096, before, 100, &packets);
  write_chunk(&t, 300000, after, 50, &packets);
  tg_Recording *r = open_it();              /* while it is written */
  UNIT_CHECK(r->busy && r->count == 2 && count(r, 0) == packets);
  UNIT_CHECK(r->traces[0].end.why == TG_END_NOT);
  tg_recording_close(r);
  tg_TraceEnd end = {.why = TG_END_STOPPED, .stop = tape_pos(&t)};
  tg_filewriter_ended(file, number, &end);
  tg_filewriter_ended(file, 0, &end);
  tg_filewriter_ended(file, 3, &end);
  tg_filewriter_close(file);
  r = open_it();
  UNIT_CHECK(!r->busy && !r->damaged && r->header.state == TG_FILE_COMPLETE
             && r->reason[0] == '\0' && r->end == tape_pos(&t));
  UNIT_CHECK(r->traces[0].end.why == TG_END_STOPPED
             && r->traces[1].end.why == TG_END_NOT);
  UNIT_CHECK(strcmp(tg_functions_get(r->stream->functions, after)->name,
                    "after") == 0);
  UNIT_CHECK(count(r, 0) == packets);
  UNIT_CHECK(file_size() < 600000);         /* nothing of what was reserved */
  tg_recording_close(r);
  tg_stream_unpin(t.stream);
}

/* Chunks of all sizes, of which the last few are kept. */
static void ring_of_all_sizes (void) {
  tg_FilePlan plan = plan_of(true);
  Tape t = {tg_stream_new(), NULL, NULL};
  uint64_t packets = 0, seed = 1, most = 0;
  tg_Cursor hold = {0};
  tg_FunctionId f = define(t.stream, "f", 1);
  tg_FileWriter *file = tg_filewriter_new(&plan, t.stream);
  note_trace(file, "ring");
  for (uint32_t i = 0; i < 2000; i++) {
    size_t need = 1000 + unit_random(&seed) % 200000;
    if (i % 7 == 0)
      need += unit_random(&seed) % 2000000;
    write_chunk(&t, need, f, 1 + i % 5, &packets);
    if (i == 0)
      tg_cursor_first(&hold, &t.stream->store);
    if (i >= 4)
      tg_cursor_advance(&hold);
    if (file_size() > most)
      most = file_size();
  }
  UNIT_CHECK(most < 32 << 20);      /* 5 chunks of 4 MB at most, and a step */
  uint64_t gone = hold.chunk->packets;
  tg_Recording *r = open_it();
  UNIT_CHECK(r->stream->store.first->packets == gone);
  UNIT_CHECK(!r->damaged && count(r, 0) == packets - gone);
  tg_recording_close(r);
  tg_cursor_drop(&hold);
  tg_filewriter_close(file);
  tg_stream_unpin(t.stream);
}

/* Whoever still reads keeps the blocks; the file is done with at once. */
static void cursor_outlives_tape (void) {
  tg_FilePlan plan = plan_of(false);
  Tape t = {tg_stream_new(), NULL, NULL};
  uint64_t packets = 0;
  tg_Cursor c = {0};
  const uint8_t *data;
  tg_FunctionId f = define(t.stream, "f", 1);
  tg_FileWriter *file = tg_filewriter_new(&plan, t.stream);
  write_chunk(&t, 4096, f, 3, &packets);
  tg_cursor_first(&c, &t.stream->store);
  tg_filewriter_close(file);
  write_chunk(&t, 4096, f, 3, &packets);    /* in memory */
  tg_Recording *r = open_it();
  UNIT_CHECK(!r->busy && count(r, 0) == 6);
  tg_recording_close(r);
  UNIT_CHECK(tg_cursor_peek(&c, &data) > 0 && tg_cursor_advance(&c)
             && tg_cursor_peek(&c, &data) > 0);
  tg_cursor_drop(&c);
  tg_stream_unpin(t.stream);
}

static void taken (void) {
  char own[96];
  tg_FilePlan plan = plan_of(false);
  tg_Stream *s = tg_stream_new(), *s2 = tg_stream_new();
  tg_FileWriter *a = tg_filewriter_new(&plan, s);
  tg_FileWriter *b = tg_filewriter_new(&plan, s2); /* the lock is another's */
  snprintf(own, sizeof own, "%s.%ld", path, (long)getpid());
  UNIT_CHECK(b != NULL && strcmp(tg_filewriter_path(b), own) == 0);
  tg_filewriter_discard(b);
  UNIT_CHECK(access(own, F_OK) != 0 && access(path, F_OK) == 0);
  tg_filewriter_close(a);
  plan.exclusive = true;
  b = tg_filewriter_new(&plan, s2);
  UNIT_CHECK(b != NULL && strcmp(tg_filewriter_path(b), own) == 0);
  tg_filewriter_close(b);
  unlink(own);
  tg_stream_unpin(s);
  tg_stream_unpin(s2);
}

static void refused (void) {
  static const char *const places[] = {"/", "/nowhere/rec", "/dev/null"};
  static const int errors[] = {EISDIR, ENOENT, EINVAL};
  tg_Stream *s = tg_stream_new();
  for (int i = 0; i < 3; i++) {
    char place[16];
    tg_FilePlan plan = {.path = strcpy(place, places[i])};
    UNIT_CHECK(tg_filewriter_new(&plan, s) == NULL && errno == errors[i]);
  }
  UNIT_CHECK(s->store.supply == NULL && s->functions->watch == NULL);
  tg_stream_unpin(s);
}

/* Without memory for what unpacks ahead, it is opened all the same. */
static void open_without_memory (void) {
  uint64_t nth = 0, asked, opened = 0;
  do {
    char reason[160];
    tg_Status status;
    tg_alloc_fail(++nth);
    tg_Recording *r = tg_recording_open(path, &status, reason, sizeof reason);
    asked = tg_alloc_fail(0);
    UNIT_CHECK(r != NULL || status == TG_ERR_MEMORY);
    UNIT_CHECK(r == NULL || (r->count == 1 && r->program.count == 1));
    opened += r != NULL;
    if (r != NULL)
      tg_recording_close(r);
  } while (asked >= nth);
  UNIT_CHECK(nth > 10 && opened >= 1 && opened <= 2);
}

/* Every allocation refused, while it begins and while it is opened. */
static void without_memory (void) {
  tg_FilePlan plan = plan_of(false);
  char name[] = "program", *list[] = {name};
  plan.program = (tg_Program){.name = name, .arguments = list, .count = 1};
  tg_Stream *s = tg_stream_new();
  define(s, "f", 1);
  tg_FileWriter *file;
  uint64_t nth = 0;
  do {
    unlink(path);
    tg_alloc_fail(++nth);
    file = tg_filewriter_new(&plan, s);
    int error = errno;
    tg_alloc_fail(0);
    UNIT_CHECK(file != NULL || (error == ENOMEM && access(path, F_OK) != 0));
  } while (file == NULL);
  UNIT_CHECK(nth > 4);
  note_trace(file, "trace");
  tg_filewriter_close(file);
  open_without_memory();
  tg_stream_unpin(s);
}

static void absolute (void) {
  tg_FilePlan plan = {.path = tg_strdup("some/rec", 8)};
  UNIT_CHECK(tg_fileplan_fix(&plan) && plan.path[0] == '/'
             && strcmp(plan.path + strlen(plan.path) - 9, "/some/rec") == 0);
  UNIT_CHECK(tg_fileplan_fix(&plan) && strstr(plan.path, "//") == NULL);
  tg_fileplan_free(&plan);
}

int main (void) {
  snprintf(path, sizeof path, "/tmp/tracegrip-test-%ld", (long)getpid());
  UNIT_RUN(written_and_read);
  UNIT_RUN(ring_of_all_sizes);
  UNIT_RUN(cursor_outlives_tape);
  UNIT_RUN(taken);
  UNIT_RUN(refused);
  UNIT_RUN(without_memory);
  UNIT_RUN(absolute);
  unlink(path);
  return UNIT_END();
}

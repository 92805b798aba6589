/*
** test_export.c - exports of streams that a program hardly makes: of functions
** of which nothing is known, and two at the same time.
*/
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture.h"
#include "formats/formats.h"
#include "unit.h"

static void need_room (Tape *t) {
  const uint8_t *end = (const uint8_t *)t->chunk->block + t->chunk->size;
  if (end - t->p < 256)
    tape_chunk(t, 0);
}

/* ---- one export ---- */

/* Writes to a file that has no name, and reads it again. */
static tg_Buf text_of (FILE *file) {
  tg_Buf text = {0};
  char piece[4096];
  size_t n;
  rewind(file);
  while ((n = fread(piece, 1, sizeof piece, file)) > 0)
    tg_buf_add(&text, piece, n);
  tg_buf_addchar(&text, '\0');
  fclose(file);
  return text;
}

static void write_to (const char *path, tg_Stream *stream,
                      const tg_Format *format, bool samples) {
  static const tg_Program program;
  tg_Options o;
  tg_Selection selection = {0};
  tg_MinDuration minduration;
  tg_OutFile out;
  tg_options_init(&o);
  tg_selection_add(&selection, &o);
  tg_Reader *reader = tg_reader_new(stream, 0, &selection);
  tg_minduration_init(&minduration, reader, 0);
  UNIT_CHECK(tg_outfile_open(&out, path));
  tg_Export x = {
    .name = "t", .program = &program, .stream = stream,
    .selection = &selection, .minduration = &minduration,
    .stop = UINT64_MAX, .end_ns = 1, .out = &out,
    .options = {.samples = samples, .sources = true, .gecko = 36}
  };
  UNIT_CHECK(tg_export_write(&x, format) == TG_OK);
  UNIT_CHECK(tg_outfile_close(&out));
  tg_minduration_free(&minduration);
  tg_reader_free(reader);
  tg_selection_clear(&selection);
}

static tg_Buf export_of (tg_Stream *stream, const tg_Format *format,
                         bool samples) {
  char path[32];
  FILE *file = tmpfile();
  snprintf(path, sizeof path, "/dev/fd/%d", fileno(file));
  write_to(path, stream, format, samples);
  return text_of(file);
}

/* ---- nothing is known of a function ---- */

static tg_FunctionId define_nothing (tg_Stream *s, bool is_c) {
  tg_Function f = {.is_c = is_c};
  return tg_functions_add(s->functions, &f);
}

/* Calls in the main coroutine and in two others, one of which an error ends. */
static Tape nameless (tg_Cursor *start) {
  static const uint32_t chain[] = {1, 0};
  Tape t = tape_new();
  tg_cursor_first(start, &t.stream->store);
  t.stream->clock = (tg_Clock){0, 1000.0};    /* folded counts microseconds */
  tg_FunctionId lua = define_nothing(t.stream, false);
  tg_FunctionId c = define_nothing(t.stream, true);
  e_context(&t, 1000, 1, chain);
  e_call(&t, lua, 0, "\x01\xc5");
  e_call(&t, c, 0, NULL);
  e_resume(&t, 2);
  e_call(&t, lua, 0, NULL);
  e_plain(&t, TG_EV_YIELD, NULL);
  e_resume(&t, 3);
  e_call(&t, c, 0, NULL);
  e_throw(&t, 1, NULL);
  e_plain(&t, TG_EV_LEAVE, NULL);
  e_return(&t);
  e_site(&t, c, 0, 7, 1);
  return t;
}

/* Formats may have zero bytes. */
static bool contains (const tg_Buf *text, const char *s) {
  size_t size = strlen(s);
  for (size_t i = 0; i + size <= text->size; i++) {
    if (memcmp(text->data + i, s, size) == 0)
      return true;
  }
  return false;
}

static void nothing_known (void) {
  tg_Cursor start;
  Tape t = nameless(&start);
  for (const tg_Format *f = tg_formats; f->name != NULL; f++) {
    tg_Buf text = export_of(t.stream, f, true);
    UNIT_CHECK(!text.failed && text.size > 1);
    UNIT_CHECK(!contains(&text, "(null)"));
    UNIT_CHECK(contains(&text, "(anonymous function)")
               || strcmp(f->name, "packets") == 0 || contains(&text, "\"?\""));
    tg_buf_free(&text);
  }
  tg_cursor_drop(&start);
  tg_stream_unpin(t.stream);
}

/* ---- two at the same time ---- */

enum { CALLS = 8000, RUNS = 3 };

/* Of other functions for each seed. */
static Tape calls_of (uint64_t seed, tg_Cursor *start) {
  static const uint32_t chain[] = {1, 0};
  char name[16];
  Tape t = tape_new();
  uint32_t depth = 0;
  tg_cursor_first(start, &t.stream->store);
  for (uint32_t i = 0; i < 8; i++) {
    snprintf(name, sizeof name, "f%u_%u", (unsigned)seed, (unsigned)i);
    define(t.stream, name, i + 1);
  }
  e_context(&t, 1000, 1, chain);
  for (int i = 0; i < CALLS; i++) {
    need_room(&t);
    e_call(&t, 1 + unit_random(&seed) % 8, 0, i % 3 ? NULL : "\x01\xc5");
    depth++;
    for (; depth > 0 && unit_random(&seed) % 5 < 3; depth--)
      e_return(&t);
  }
  return t;
}

typedef struct Job {
  Tape tape;
  tg_Cursor start;
  const tg_Format *format;
  tg_Buf text;
} Job;

static void *run (void *ud) {
  Job *j = ud;
  for (int i = 0; i < RUNS; i++) {
    tg_buf_free(&j->text);
    j->text = export_of(j->tape.stream, j->format, true);
  }
  return NULL;
}

/* What two threads write of two streams, each format at once with itself, is
   what one of them writes alone. */
static void both_at_once (const tg_Format *f, Job jobs[2]) {
  pthread_t threads[2];
  tg_Buf alone[2];
  for (int i = 0; i < 2; i++) {
    jobs[i].format = f;
    alone[i] = export_of(jobs[i].tape.stream, f, true);
  }
  for (int i = 0; i < 2; i++)
    UNIT_CHECK(pthread_create(&threads[i], NULL, run, &jobs[i]) == 0);
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
    UNIT_CHECK(jobs[i].text.size == alone[i].size
               && memcmp(jobs[i].text.data, alone[i].data, alone[i].size) == 0);
    tg_buf_free(&jobs[i].text);
    tg_buf_free(&alone[i]);
  }
}

static void two_at_once (void) {
  Job jobs[2] = {0};
  for (int i = 0; i < 2; i++)
    jobs[i].tape = calls_of((uint64_t)i + 1, &jobs[i].start);
  for (const tg_Format *f = tg_formats; f->name != NULL; f++)
    both_at_once(f, jobs);
  for (int i = 0; i < 2; i++) {
    tg_cursor_drop(&jobs[i].start);
    tg_stream_unpin(jobs[i].tape.stream);
  }
}

/* ---- a trace that ends before it begins ---- */

static void backwards (void) {
  static const tg_Program program;
  tg_Options o;
  tg_Selection selection = {0};
  tg_MinDuration minduration;
  tg_OutFile out;
  Tape t = tape_new();
  tg_options_init(&o);
  tg_selection_add(&selection, &o);
  tg_Reader *reader = tg_reader_new(t.stream, 0, &selection);
  tg_minduration_init(&minduration, reader, 0);
  UNIT_CHECK(tg_outfile_open(&out, "/dev/null"));
  tg_Export x = {
    .name = "t", .program = &program, .stream = t.stream,
    .selection = &selection, .minduration = &minduration,
    .start_ns = 2000, .end_ns = 1000, .out = &out
  };
  for (const tg_Format *f = tg_formats; f->name != NULL; f++) {
    if (strcmp(f->name, "speedscope") == 0)
      UNIT_CHECK(tg_export_write(&x, f) == TG_OK);
  }
  UNIT_CHECK(x.end_ns == x.start_ns);
  tg_outfile_close(&out);
  tg_minduration_free(&minduration);
  tg_reader_free(reader);
  tg_selection_clear(&selection);
  tg_stream_unpin(t.stream);
}

int main (void) {
  UNIT_RUN(nothing_known);
  UNIT_RUN(two_at_once);
  UNIT_RUN(backwards);
  return UNIT_END();
}

/*
** test_ledger.c - counts in a mapped file: what is read of it is what was
** counted, also of a process that was killed; and whatever bytes there are,
** nothing beyond them is read.
*/
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "counts/ledgerreader.h"
#include "text/fileio.h"
#include "unit.h"

static char directory[64], path[96];
static int complaints;

static void complain (int error) {
  UNIT_CHECK(error != 0);
  complaints++;
}

static tg_Counts counting (void) {
  tg_Counts c = {.ledger = {.directory = tg_strcopy(directory),
                            .complain = complain}};
  return c;
}

/* Counts function 'first' of source "@name" so often, and its first lines. */
static void count (tg_Counts *c, const char *name, int first, int lines) {
  tg_SourceCounts *s = tg_counts_find(c, name, strlen(name));
  if (s == NULL)
    s = tg_counts_add(c, name, strlen(name), false);
  tg_FunctionCounts *f = tg_counts_function(c, s, first, first + 100);
  f->found->calls++;
  for (int i = 0; i < lines; i++)
    tg_counts_line(c, f, first + i);
}

static tg_Buf bytes_of (int n) {
  tg_Buf b = {0};
  snprintf(path, sizeof path, "%s/%ld-%d.counts", directory, (long)getpid(),
           n);
  UNIT_CHECK(tg_fileio_text(path, SIZE_MAX, &b));
  return b;
}

static uint64_t times (tg_Counts *c, const char *text, size_t size, int first,
                       int line) {
  tg_SourceCounts *s = tg_counts_find(c, text, size);
  if (s == NULL)
    return UINT64_MAX;
  return tg_counts_of(tg_counts_function(c, s, first, first + 100),
                      (uint32_t)(line - first));
}

#define ABSOLUTE "@/lib/a.lua\0"
#define SIZED(text) (text), sizeof (text) - 1

static void is_read_as_counted (void) {
  tg_Counts c = counting(), sum = {0};
  tg_LedgerInfo info;
  UNIT_CHECK(c.ledger.head == NULL);            /* no file before it counts */
  for (int i = 0; i < 3; i++)
    count(&c, "@/lib/a.lua", 10, 40);
  count(&c, "@/lib/a.lua", 200, 1);
  count(&c, "@/lib/a.lua", 400, 1000);
  tg_Buf file = bytes_of(1);
  for (int i = 0; i < 2; i++) {
    UNIT_CHECK(tg_ledgerreader_add(&sum, file.data, file.size, &info)
               == TG_LEDGER_READ);
    UNIT_CHECK(info.process == getpid() && info.error == 0);
  }
  UNIT_CHECK(times(&sum, SIZED(ABSOLUTE), 10, 10) == 6);
  UNIT_CHECK(times(&sum, SIZED(ABSOLUTE), 10, 49) == 6);
  UNIT_CHECK(times(&sum, SIZED(ABSOLUTE), 10, 50) == 0);
  UNIT_CHECK(times(&sum, SIZED(ABSOLUTE), 200, 200) == 2);
  UNIT_CHECK(times(&sum, SIZED(ABSOLUTE), 200, 201) == 0);
  UNIT_CHECK(times(&sum, SIZED(ABSOLUTE), 400, 1399) == 2);
  UNIT_CHECK(times(&sum, SIZED(ABSOLUTE), 400, 1400) == 0);
  tg_buf_free(&file);
  unlink(path);
  tg_counts_free(&sum);
  tg_counts_free(&c);
}

static void grows_by_pieces (void) {
  tg_Counts c = counting(), sum = {0};
  tg_LedgerInfo info;
  char name[40];
  for (int i = 0; i < 3000; i++) {
    snprintf(name, sizeof name, "@/lib/number%d.lua", i);
    count(&c, name, 1, 40);
  }
  UNIT_CHECK(c.ledger.npieces > 3);
  tg_Buf file = bytes_of(1);
  UNIT_CHECK(tg_ledgerreader_add(&sum, file.data, file.size, &info)
             == TG_LEDGER_READ);
  UNIT_CHECK(sum.nsources == 3000);
  for (int i = 0; i < 3000; i++) {
    int size = snprintf(name, sizeof name, "@/lib/number%d.lua", i);
    UNIT_CHECK(times(&sum, name, (size_t)size + 1, 1, 40) == 1);
  }
  tg_buf_free(&file);
  unlink(path);
  tg_counts_free(&sum);
  tg_counts_free(&c);
}

/* A name that is relative goes with the directory in which it was met. */
static void knows_where_names_are_from (void) {
  tg_Counts c = counting(), sum = {0};
  tg_LedgerInfo info;
  UNIT_CHECK(chdir(directory) == 0);
  count(&c, "@a.lua", 1, 1);
  UNIT_CHECK(chdir("/") == 0);
  count(&c, "@a.lua", 1, 1);
  tg_Buf file = bytes_of(1);
  UNIT_CHECK(tg_ledgerreader_add(&sum, file.data, file.size, &info)
             == TG_LEDGER_READ);
  char text[96];
  int size = snprintf(text, sizeof text, "@a.lua%c%s", 0, directory);
  UNIT_CHECK(times(&sum, text, (size_t)size, 1, 1) == 2);
  tg_buf_free(&file);
  unlink(path);
  tg_counts_free(&sum);
  tg_counts_free(&c);
}

/* The child counts in another file, and is killed. */
static void outlives_its_process (void) {
  tg_Counts c = counting();
  int ready[2];
  char one = 0;
  count(&c, "@/lib/a.lua", 10, 5);
  UNIT_CHECK(pipe(ready) == 0);
  pid_t child = fork();
  if (child == 0) {
    tg_counts_renew(&c);
    count(&c, "@/lib/a.lua", 10, 2);
    if (write(ready[1], "x", 1) == 1)
      pause();
    _exit(1);
  }
  UNIT_CHECK(read(ready[0], &one, 1) == 1);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  tg_Counts sum = {0};
  tg_LedgerInfo info;
  tg_Buf file = {0};
  snprintf(path, sizeof path, "%s/%ld-1.counts", directory, (long)child);
  UNIT_CHECK(tg_fileio_text(path, SIZE_MAX, &file));
  UNIT_CHECK(tg_ledgerreader_add(&sum, file.data, file.size, &info)
             == TG_LEDGER_READ);
  UNIT_CHECK(info.process == child);
  UNIT_CHECK(times(&sum, SIZED(ABSOLUTE), 10, 11) == 1);
  UNIT_CHECK(times(&sum, SIZED(ABSOLUTE), 10, 12) == 0);
  unlink(path);
  tg_buf_free(&file);
  file = bytes_of(1);
  UNIT_CHECK(tg_ledgerreader_add(&sum, file.data, file.size, &info)
             == TG_LEDGER_READ);
  UNIT_CHECK(times(&sum, SIZED(ABSOLUTE), 10, 11) == 2);
  tg_buf_free(&file);
  unlink(path);
  tg_counts_free(&sum);
  tg_counts_free(&c);
}

/* Names that others have taken are left alone. */
static void takes_another_name (void) {
  tg_Counts c = counting(), d = counting();
  count(&c, "@/lib/a.lua", 10, 5);
  count(&d, "@/lib/a.lua", 10, 5);
  tg_Buf file = bytes_of(2);
  UNIT_CHECK(file.size > 0);
  tg_buf_free(&file);
  unlink(path);
  file = bytes_of(1);
  tg_buf_free(&file);
  unlink(path);
  tg_counts_free(&c);
  tg_counts_free(&d);
}

/* Once, and nothing is counted; what there is no memory for is noted. */
static void says_what_is_missing (void) {
  tg_Counts c = counting();
  tg_free(c.ledger.directory);
  c.ledger.directory = tg_strcopy("/nonexistent");
  complaints = 0;
  tg_SourceCounts *s = tg_counts_add(&c, "@/a", 3, false);
  UNIT_CHECK(s != NULL && s->number == 0);
  UNIT_CHECK(tg_counts_function(&c, s, 1, 2) == NULL);
  UNIT_CHECK(tg_counts_add(&c, "@/b", 3, false) != NULL);
  UNIT_CHECK(complaints == 1);
  tg_counts_free(&c);
}

static void bears_a_want_of_memory (void) {
  for (uint64_t nth = 1; nth < 20; nth++) {
    tg_Counts c = counting();
    tg_alloc_fail(nth);
    tg_SourceCounts *s = tg_counts_add(&c, "@/a", 3, false);
    tg_FunctionCounts *f = (s != NULL) ? tg_counts_function(&c, s, 1, 2)
                                       : NULL;
    for (int line = 1; f != NULL && line < 400; line++)
      tg_counts_line(&c, f, line);
    tg_alloc_fail(0);
    if (c.ledger.path != NULL)
      unlink(c.ledger.path);
    tg_counts_free(&c);
  }
}

/* Every beginning of a file, and files with wrong bytes. */
static void reads_nothing_beyond (void) {
  tg_Counts c = counting();
  tg_LedgerInfo info;
  uint64_t seed = 1;
  count(&c, "@/lib/a.lua", 10, 40);
  count(&c, "@b.lua", 1, 3);
  tg_Buf file = bytes_of(1);
  size_t used = (size_t)c.ledger.head->used;
  UNIT_CHECK(used > 1700 && used < 2000);
  for (size_t size = 0; size < used; size++) {
    char *exact = malloc(size + (size == 0));
    tg_Counts sum = {0};
    memcpy(exact, file.data, size);
    UNIT_CHECK(tg_ledgerreader_add(&sum, exact, size, &info)
               == TG_LEDGER_BROKEN);
    tg_counts_free(&sum);
    free(exact);
  }
  for (int i = 0; i < 20000; i++) {
    tg_Counts sum = {0};
    char copy[1800];
    memcpy(copy, file.data, sizeof copy);
    for (uint32_t n = unit_random(&seed) % 8; n > 0; n--)
      copy[8 + unit_random(&seed) % (sizeof copy - 8)] =
        (char)unit_random(&seed);
    tg_ledgerreader_add(&sum, copy, sizeof copy, &info);
    tg_counts_free(&sum);
  }
  tg_buf_free(&file);
  unlink(path);
  tg_counts_free(&c);
}

int main (void) {
  strcpy(directory, "/tmp/tracegrip-ledger-XXXXXX");
  if (mkdtemp(directory) == NULL)
    return 1;
  UNIT_RUN(is_read_as_counted);
  UNIT_RUN(grows_by_pieces);
  UNIT_RUN(knows_where_names_are_from);
  UNIT_RUN(outlives_its_process);
  UNIT_RUN(takes_another_name);
  UNIT_RUN(says_what_is_missing);
  UNIT_RUN(bears_a_want_of_memory);
  UNIT_RUN(reads_nothing_beyond);
  rmdir(directory);
  return UNIT_END();
}

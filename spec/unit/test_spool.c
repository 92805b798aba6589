/*
** test_spool.c - columns put aside and written again: in memory, in a file when
** they are many, and not at all when something fails.
*/
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "text/fileio.h"
#include "text/spool.h"
#include "unit.h"

#define COLUMNS 5u

static char path[64];

/* The document that a column makes, as bytes. */
static bool written (tg_Spool *s, tg_Column *c, tg_Buf *to) {
  tg_OutFile out;
  UNIT_CHECK(tg_outfile_open(&out, path));
  bool ok = tg_column_write(s, c, &out);
  UNIT_CHECK(tg_outfile_close(&out) || !ok);
  return tg_fileio_text(path, SIZE_MAX / 2, to) && ok;
}

static bool same (const tg_Buf *a, const tg_Buf *b) {
  return a->size == b->size
         && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static void columns_are_what_was_added (void) {
  uint64_t seed = 99;
  tg_Spool s;
  tg_Column columns[COLUMNS] = {0};
  tg_Buf wanted[COLUMNS] = {0}, got = {0};
  tg_spool_init(&s);
  for (uint32_t round = 0; round < 20000; round++) {
    uint32_t i = unit_random(&seed) % COLUMNS;
    uint32_t n = unit_random(&seed) % 100;
    for (uint32_t k = 0; k < n; k++) {
      char c = (char)unit_random(&seed);
      tg_buf_addchar(&columns[i].text, c);
      tg_buf_addchar(&wanted[i], c);
    }
    UNIT_CHECK(tg_column_turn(&s, &columns[i]));
  }
  UNIT_CHECK(columns[0].count > 1 && s.fd < 0);
  UNIT_CHECK(tg_column_put(&s, &columns[1]) && columns[1].text.data == NULL);
  for (uint32_t i = 0; i < COLUMNS; i++) {
    tg_buf_clear(&got);
    UNIT_CHECK(written(&s, &columns[i], &got) && same(&got, &wanted[i]));
    tg_buf_free(&wanted[i]);
    tg_column_free(&columns[i]);
  }
  tg_buf_free(&got);
  tg_spool_free(&s);
}

/* Piece 'i' of a column, all of it one letter. */
static bool add_piece (tg_Spool *s, tg_Column *c, uint32_t i) {
  size_t size = i % 3 == 0 ? TG_SPOOL_BLOCK : TG_SPOOL_BLOCK / 2 + i;
  if (!tg_buf_reserve(&c->text, size))
    return false;
  memset(c->text.data, (int)('A' + i % 50), size);
  c->text.size = size;
  return tg_column_turn(s, c);
}

static bool is_piece (const tg_Buf *b, uint32_t i) {
  size_t size = i % 3 == 0 ? TG_SPOOL_BLOCK : TG_SPOOL_BLOCK / 2 + i;
  for (size_t k = 0; k < b->size; k++) {
    if (b->data[k] != (char)('A' + i % 50))
      return false;
  }
  return b->size == size;
}

/* A piece is in one block of memory, so some end before it does. */
static void what_is_too_much_is_in_a_file (void) {
  const uint32_t pieces = TG_SPOOL_BLOCKS + 40;
  struct stat st;
  tg_Spool s;
  tg_Column c = {0};
  tg_Buf b = {0};
  tg_spool_init(&s);
  for (uint32_t i = 0; i < pieces; i++)
    UNIT_CHECK(add_piece(&s, &c, i));
  UNIT_CHECK(c.count == pieces && s.filled <= TG_SPOOL_MEMORY);
  UNIT_CHECK(s.fd >= 0 && fstat(s.fd, &st) == 0 && st.st_nlink == 0);
  UNIT_CHECK(s.end > 0 && (uint64_t)st.st_size == s.end);
  tg_buf_addstr(&c.text, "the rest");
  for (uint32_t i = 0; i < pieces; i++)
    UNIT_CHECK(tg_column_read(&s, &c, i, &b) && is_piece(&b, i));
  UNIT_CHECK(tg_column_read(&s, &c, pieces, &b));
  UNIT_TEXT(&b, "the rest");
  tg_buf_free(&b);
  tg_column_free(&c);
  tg_spool_free(&s);
}

/* Fills memory, so that the next piece goes to the file. */
static void fill_memory (tg_Spool *s, tg_Column *c) {
  for (uint32_t i = 0; i < TG_SPOOL_BLOCKS; i++)
    UNIT_CHECK(add_piece(s, c, 0));
  UNIT_CHECK(s->filled == TG_SPOOL_MEMORY && s->fd < 0);
}

/* Nothing is written that is not whole, and the first reason stays. */
static void check_failed (tg_Spool *s, tg_Column *c, int error) {
  tg_Buf b = {0};
  UNIT_CHECK(s->error == error);
  UNIT_CHECK(!tg_column_turn(s, c) && !tg_column_put(s, c));
  UNIT_CHECK(!written(s, c, &b) && s->error == error);
  tg_buf_free(&b);
  tg_column_free(c);
  tg_spool_free(s);
}

static void a_directory_that_is_not_there (void) {
  tg_Spool s;
  tg_Column c = {0};
  tg_spool_init(&s);
  fill_memory(&s, &c);
  setenv("TMPDIR", "/nowhere/at/all", 1);
  UNIT_CHECK(!add_piece(&s, &c, 0));
  unsetenv("TMPDIR");
  check_failed(&s, &c, ENOENT);
}

/* A limit on the sizes of files is as good as a full disk. */
static void a_disk_that_is_full (void) {
  struct rlimit before, small;
  tg_Spool s;
  tg_Column c = {0};
  tg_spool_init(&s);
  fill_memory(&s, &c);
  getrlimit(RLIMIT_FSIZE, &before);
  small = (struct rlimit){TG_SPOOL_BLOCK / 3, before.rlim_max};
  void (*handler) (int) = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  UNIT_CHECK(!add_piece(&s, &c, 0));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  check_failed(&s, &c, EFBIG);
}

/* What was put aside before an allocation was refused can still be read. */
static void without_memory (void) {
  bool refused = true;
  for (uint32_t nth = 1; refused; nth++) {
    tg_Spool s;
    tg_Column c = {0};
    tg_Buf b = {0};
    uint32_t i = 0;
    tg_spool_init(&s);
    tg_alloc_fail(nth);
    while (i < 20 && add_piece(&s, &c, i))
      i++;
    refused = tg_alloc_fail(0) >= nth;
    UNIT_CHECK(i == 20 || refused);
    UNIT_CHECK(i == 20 || s.error == 0 || s.error == ENOMEM);
    for (uint32_t k = 0; k < c.count; k++)
      UNIT_CHECK(tg_column_read(&s, &c, k, &b) && is_piece(&b, k));
    tg_buf_free(&b);
    tg_column_free(&c);
    tg_spool_free(&s);
  }
}

static void reads_and_writes_at_a_place (void) {
  char back[6] = "";
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  UNIT_CHECK(fd >= 0 && tg_fileio_write(fd, "hello", 5, 3));
  UNIT_CHECK(tg_fileio_read(fd, back, 5, 3) && strcmp(back, "hello") == 0);
  UNIT_CHECK(tg_fileio_read(fd, back, 0, 99));
  errno = 0;
  UNIT_CHECK(!tg_fileio_read(fd, back, 5, 4) && errno == EIO);
  close(fd);
  UNIT_CHECK(!tg_fileio_read(fd, back, 1, 0) && errno == EBADF);
  UNIT_CHECK(!tg_fileio_write(fd, back, 1, 0) && errno == EBADF);
}

static void reads_whole_files (void) {
  tg_Buf b = {0};
  UNIT_CHECK(tg_fileio_text(path, 100, &b) && b.size == 8);
  UNIT_CHECK(b.size == 8 && memcmp(b.data, "\0\0\0hello", 8) == 0);
  tg_buf_clear(&b);
  UNIT_CHECK(!tg_fileio_text(path, 8, &b));     /* nobody knows that it ends */
  UNIT_CHECK(!tg_fileio_text("/nowhere/at/all", 100, &b));
  UNIT_CHECK(!tg_fileio_text("/tmp", 100, &b));
  UNIT_CHECK(!tg_fileio_text("/dev/null", 100, &b));
  tg_buf_clear(&b);
  UNIT_CHECK(tg_fileio_text("/proc/self/status", 1 << 20, &b) && b.size > 0);
  tg_buf_free(&b);
  unlink(path);
  UNIT_CHECK(mkfifo(path, 0600) == 0);
  UNIT_CHECK(!tg_fileio_text(path, 100, &b));    /* and does not wait */
  tg_buf_free(&b);
}

int main (void) {
  snprintf(path, sizeof path, "/tmp/tracegrip-spool.%ld", (long)getpid());
  UNIT_RUN(columns_are_what_was_added);
  UNIT_RUN(what_is_too_much_is_in_a_file);
  UNIT_RUN(a_directory_that_is_not_there);
  UNIT_RUN(a_disk_that_is_full);
  UNIT_RUN(without_memory);
  UNIT_RUN(reads_and_writes_at_a_place);
  UNIT_RUN(reads_whole_files);
  unlink(path);
  return UNIT_END();
}

/*
** test_unpacker.c - the block that is needed next, unpacked by a thread: whole,
** with bytes that are not what they were, cut off, and after a fork. Without
** the library, and with one processor, there is nothing to be seen here.
*/
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "recording/unpacker.h"
#include "stream/supply.h"
#include "text/zstd.h"
#include "unit.h"

#define PLACE 4096u
#define DATA (TG_CHUNK_SIZE - sizeof(tg_Block))

/* A file with a block PACKED, whose data are one number; '*head' is its. */
static FILE *write_block (tg_Block *head) {
  static uint8_t data[DATA], packed[TG_CHUNK_SIZE];
  tg_Zstd z = {0};
  FILE *file = tmpfile();
  memset(data, 7, sizeof data);
  size_t n = tg_zstd_pack(&z, data, sizeof data, packed, sizeof packed);
  tg_zstd_free(&z);
  tg_block_begin(head, TG_BLOCK_PACKED, sizeof *head + n, 0, 0);
  head->unpacked = DATA;
  tg_block_commit(head, head->data + n);
  UNIT_CHECK(file != NULL && n > 0
             && fseek(file, PLACE, SEEK_SET) == 0
             && fwrite((void *)head, sizeof *head, 1, file) == 1
             && fwrite(packed, n, 1, file) == 1 && fflush(file) == 0);
  return file;
}

static tg_Block *memory (const tg_Block *head) {
  tg_Block *b = tg_malloc(sizeof *head + head->unpacked);
  UNIT_CHECK(b != NULL);
  memcpy((void *)b, (const void *)head, sizeof *head);
  return b;
}

/* Whether the data, all of them, are this number. */
static bool are_all (const tg_Block *b, uint8_t number) {
  for (size_t i = 0; i < DATA; i++) {
    if (b->data[i] != number)
      return false;
  }
  return true;
}

/* Begins a block and takes it again: whether it is good, with such data. */
static bool comes (tg_Unpacker *u, const tg_Block *head, uint8_t number) {
  bool good;
  tg_Block *b = memory(head);
  UNIT_CHECK(tg_unpacker_begin(u, PLACE, b, NULL));
  UNIT_CHECK(tg_unpacker_take(u, &good) == b);
  UNIT_CHECK(!tg_unpacker_works(u));
  good = good && are_all(b, number);
  tg_free(b);
  return good;
}

static void gives_what_the_file_has (void) {
  tg_Block head;
  FILE *file = write_block(&head);
  int fd = fileno(file);
  bool good;
  tg_Unpacker *u = tg_unpacker_new(fd, NULL);
  if (u != NULL) {
    UNIT_CHECK(tg_unpacker_take(u, &good) == NULL && !good);
    for (int i = 0; i < 100; i++)
      UNIT_CHECK(comes(u, &head, 7));
    UNIT_CHECK(pwrite(fd, "xxxxxxxx", 8, PLACE + sizeof head + 4) == 8);
    UNIT_CHECK(comes(u, &head, 0));
    UNIT_CHECK(ftruncate(fd, PLACE + sizeof head + 4) == 0);
    UNIT_CHECK(!comes(u, &head, 0));
  }
  tg_unpacker_free(u);
  fclose(file);
}

/* In the child nothing is waited for that a thread was to do. */
static int child_of (tg_Unpacker *u, const tg_Block *head) {
  bool good;
  tg_Block *b = tg_unpacker_take(u, &good);
  if (b == NULL || (good && !are_all(b, 7)))
    return 1;
  tg_free(b);
  b = memory(head);
  if (tg_unpacker_begin(u, PLACE, b, NULL))
    return 2;
  tg_free(b);
  tg_unpacker_free(u);
  return 0;
}

static void a_child_has_no_thread (void) {
  tg_Block head;
  FILE *file = write_block(&head);
  tg_Unpacker *u = tg_unpacker_new(fileno(file), NULL);
  for (int i = 0; u != NULL && i < 20; i++) {
    bool good;
    tg_Block *b = memory(&head);
    UNIT_CHECK(tg_unpacker_begin(u, PLACE, b, NULL));
    pid_t pid = fork();
    if (pid == 0)
      _exit(child_of(u, &head));
    int status;
    UNIT_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    UNIT_CHECK(tg_unpacker_take(u, &good) == b && good && are_all(b, 7));
    tg_free(b);
  }
  tg_unpacker_free(u);
  fclose(file);
}

int main (void) {
  if (tg_zstd_there()) {
    UNIT_RUN(gives_what_the_file_has);
    UNIT_RUN(a_child_has_no_thread);
  }
  return UNIT_END();
}

/*
** replay.c - the fuzzer's target without a fuzzer, for any compiler.
**
**     test_fuzz [FILE|DIRECTORY...]     by default spec/fuzz/corpus
**     test_fuzz --pack FROM TO          a recording without unused room
**
** Each file is read as it is, cut off at many places (which must give a prefix
** of the whole's packets) and changed many times, always in the same ways.
*/
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../unit/unit.h"
#include "pieces.h"
#include "target.h"

#define CORPUS "spec/fuzz/corpus"
#define CUTS 60u
#define CHANGES 200u
#define SIZE_MOST ((size_t)1 << 20)

static uint64_t seed;
static const char *testing;     /* the file's name */

/* Into 'bytes', which has SIZE_MOST; its size, 0 if it cannot be read. */
static size_t read_file (const char *path, uint8_t *bytes) {
  FILE *f = fopen(path, "rb");
  if (f == NULL)
    return 0;
  size_t size = fread(bytes, 1, SIZE_MOST, f);
  fclose(f);
  return size;
}

/*
** {==================================================================
** Changes
** ===================================================================
*/

/* Some bytes, bits and numbers that mean something, and other lengths. */
static size_t change (uint8_t *data, size_t size, size_t most) {
  static const uint32_t numbers[] = {
    0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 64, 4096
  };
  uint32_t x = unit_random(&seed), at = size > 0 ? x % (uint32_t)size : 0;
  switch (unit_random(&seed) % 5) {
    case 0: if (size > 0) data[at] ^= (uint8_t)(1u << (x >> 24 & 7)); break;
    case 1: if (size > 0) data[at] = (uint8_t)(x >> 16); break;
    case 2:
      if (size >= 4)
        memcpy(data + x % (size - 3), &numbers[x >> 24 & 7], 4);
      break;
    case 3: size = at; break;
    default:
      for (; size < most && (x >>= 1) != 0; size++)
        data[size] = (uint8_t)unit_random(&seed);
  }
  return size;
}

static void change_often (const uint8_t *bytes, size_t size, uint8_t *room) {
  for (unsigned i = 0; i < CHANGES; i++) {
    size_t n = size;
    memcpy(room, bytes, size);
    for (unsigned times = 1 + unit_random(&seed) % 4; times > 0; times--) {
      size_t next = fuzz_change(room, n, SIZE_MOST,
                                unit_random(&seed) << 4, change);
      n = next > 0 && i % 4 != 0 ? next : change(room, n, SIZE_MOST);
    }
    fuzz_one(room, n);
  }
}

/* }================================================================== */

static bool begins_with (const tg_Buf *all, const tg_Buf *part) {
  return part->size <= all->size
         && (part->size == 0
             || memcmp(all->data, part->data, part->size) == 0);
}

static void cut_often (const uint8_t *bytes, size_t size) {
  tg_Buf all = {0}, part = {0};
  fuzz_packets(bytes, size, &all);
  for (unsigned i = 0; i < CUTS; i++) {
    uint8_t *cut = NULL;
    size_t n = i < CUTS / 2 ? size * i * 2 / CUTS
                            : unit_random(&seed) % (uint32_t)size;
    tg_buf_clear(&part);
    cut = malloc(n + 1);          /* of its own, so nothing is beyond it */
    if (cut != NULL) {
      memcpy(cut, bytes, n);
      fuzz_packets(cut, n, &part);
    }
    free(cut);
    UNIT_CHECK(begins_with(&all, &part));
  }
  tg_buf_free(&all);
  tg_buf_free(&part);
}

static void one_file (void) {
  uint8_t *bytes = malloc(SIZE_MOST), *room = malloc(SIZE_MOST);
  size_t size = bytes != NULL ? read_file(testing, bytes) : 0;
  seed = 4711;
  UNIT_CHECK(size > 0);
  if (size > 0 && room != NULL) {
    fuzz_one(bytes, size);
    cut_often(bytes, size);
    change_often(bytes, size, room);
  }
  free(bytes);
  free(room);
}

static void test_file (const char *path) {
  testing = path;
  unit_run(one_file, path);
}

static void test_path (const char *path) {
  struct stat st;
  struct dirent **list = NULL;
  if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
    test_file(path);
    return;
  }
  int n = scandir(path, &list, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%s", path, list[i]->d_name);
    if (list[i]->d_name[0] != '.')
      test_file(name);
    free(list[i]);
  }
  free(list);
}

static int pack (const char *from, const char *to) {
  uint8_t *bytes = malloc(SIZE_MOST);
  size_t size = bytes != NULL ? read_file(from, bytes) : 0;
  FILE *f = size > 0 ? fopen(to, "wb") : NULL;
  if (f != NULL) {
    size = fuzz_pack(bytes, size);
    fwrite(bytes, 1, size, f);
    fclose(f);
  }
  free(bytes);
  return f == NULL;
}

int main (int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "--pack") == 0)
    return pack(argv[2], argv[3]);
  for (int i = 1; i < argc; i++)
    test_path(argv[i]);
  if (argc == 1)
    test_path(CORPUS);
  return UNIT_END();
}

/* ident.c - see ident.h. */
#include "outside/ident.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"

#define BLOCK ((size_t)1 << 20)
#define BORDER 64u              /* bytes that two blocks have in common */
#define MOST ((uint64_t)256 << 20)  /* bytes of one file */

static bool is_digit (char c) {
  return c >= '0' && c <= '9';
}

/* One digit, or two for what a release may come to. 5.1.0 tells its version
   alone (lapi.c). */
int tg_ident_release (const char *text, size_t size) {
  static const char first[] = "5.1 Copyright";
  if (size >= sizeof first - 1 && memcmp(text, first, sizeof first - 1) == 0)
    return 50100;
  if (size < 5 || !is_digit(text[0]) || text[1] != '.' || !is_digit(text[2])
      || text[3] != '.' || !is_digit(text[4]))
    return 0;
  int patch = text[4] - '0';
  if (size > 5 && is_digit(text[5]))
    patch = 10 * patch + (text[5] - '0');
  return (text[0] - '0') * 10000 + (text[2] - '0') * 100 + patch;
}

static void add (tg_Idents *found, int release) {
  for (uint32_t i = 0; i < found->count; i++) {
    if (found->list[i] == release)
      return;
  }
  if (release != 0 && found->count < TG_IDENTS)
    found->list[found->count++] = release;
}

static void add_jit (tg_Idents *found, const char *text, size_t size) {
  size_t n = 0;
  while (n < size && n + 1 < sizeof found->jit && text[n] > ' '
         && text[n] < 0x7f)
    n++;
  if (n < 3 || !is_digit(text[0]))
    return;
  memcpy(found->jit, text, n);
  found->jit[n] = '\0';
  add(found, TG_IDENT_JIT);
}

/* The words are parted, so that our own constants are no answer. */
static void search (tg_Idents *found, const char *data, size_t size) {
  static const char *const words[] = {"Version: Lua ", "$Lua: Lua ", "LuaJIT "};
  for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
    const char *p = data, *end = data + size;
    size_t n = strlen(words[w]);
    while ((p = memmem(p, (size_t)(end - p), words[w], n)) != NULL) {
      p += n;
      if (w == 2)
        add_jit(found, p, (size_t)(end - p));
      else
        add(found, tg_ident_release(p, (size_t)(end - p)));
    }
  }
}

/* ---- what files have said ---- */

static void add_all (tg_Idents *found, const tg_Idents *more) {
  for (uint32_t i = 0; i < more->count; i++)
    add(found, more->list[i]);
  if (more->jit[0] != '\0')
    memcpy(found->jit, more->jit, sizeof found->jit);
}

static tg_IdentFile key_of (const struct stat *st) {
  return (tg_IdentFile){
    .device = (uint64_t)st->st_dev, .inode = (uint64_t)st->st_ino,
    .size = (uint64_t)st->st_size, .seconds = (int64_t)st->st_mtim.tv_sec,
    .nanoseconds = (int64_t)st->st_mtim.tv_nsec};
}

/* What it has said; NULL: it has not been read, or has changed since then. */
static const tg_Idents *recall (const tg_IdentMemo *memo,
                                const tg_IdentFile *key) {
  uint64_t n = memo->count < TG_IDENT_FILES ? memo->count : TG_IDENT_FILES;
  for (uint64_t i = 0; i < n; i++) {
    const tg_IdentFile *f = &memo->list[i];
    if (f->inode == key->inode && f->device == key->device
        && f->size == key->size && f->seconds == key->seconds
        && f->nanoseconds == key->nanoseconds)
      return &f->says;
  }
  return NULL;
}

static void remember (tg_IdentMemo *memo, const tg_IdentFile *file) {
  memo->list[memo->count++ % TG_IDENT_FILES] = *file;
}

/* ---- where it is looked for ---- */

/* Whether the file is the one that was mapped. Of a core no numbers are
   known. */
static bool is_same (int fd, const tg_Map *map, struct stat *st) {
  return fstat(fd, st) == 0 && S_ISREG(st->st_mode)
         && (map->inode <= 1 || st->st_ino == map->inode);
}

/* The beginning of a file. False: nothing is known of it then. */
static bool read_file (tg_Idents *found, int fd, uint64_t size) {
  if (size > MOST)
    size = MOST;
  void *data = (size > 0) ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0)
                          : MAP_FAILED;
  if (data == MAP_FAILED)
    return false;
  search(found, data, size);
  munmap(data, size);
  return true;
}

static void ask_file (tg_Idents *found, int fd, const struct stat *st,
                      tg_IdentMemo *memo) {
  tg_IdentFile file = key_of(st);
  const tg_Idents *known = (memo != NULL) ? recall(memo, &file) : NULL;
  if (known != NULL)
    add_all(found, known);
  else if (read_file(&file.says, fd, file.size)) {
    add_all(found, &file.says);
    if (memo != NULL)
      remember(memo, &file);
  }
}

/* False: it is not there any more. */
static bool search_file (tg_Idents *found, const char *root,
                         const tg_Map *map, tg_IdentMemo *memo) {
  char path[4400];
  struct stat st;
  int n = snprintf(path, sizeof path, "%s%s", root, map->path);
  int fd = (n > 0 && (size_t)n < sizeof path)
           ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  if (fd < 0)
    return false;
  bool same = is_same(fd, map, &st);
  if (same)
    ask_file(found, fd, &st, memo);
  close(fd);
  return same;
}

static void search_memory (tg_Idents *found, tg_Memory *m, const tg_Map *map) {
  char *block = tg_malloc(BLOCK);
  uint64_t at = map->start;
  while (block != NULL && at < map->end && at - map->start < MOST) {
    size_t size = (map->end - at < BLOCK) ? (size_t)(map->end - at) : BLOCK;
    if (!tg_memory_block(m, at, block, size))
      break;
    search(found, block, size);
    at += (size == BLOCK) ? BLOCK - BORDER : size;
  }
  tg_free(block);
}

static bool is_first_of (const tg_Maps *maps, uint32_t i) {
  const tg_Map *map = &maps->list[i];
  for (uint32_t j = i; j-- > 0;) {
    const tg_Map *other = &maps->list[j];
    if (other->path != NULL && strcmp(other->path, map->path) == 0)
      return false;
  }
  return true;
}

/* What has code in it: data files that are mapped may be of any size. */
static bool has_code (const tg_Maps *maps, uint32_t first) {
  for (uint32_t i = first; i < maps->count; i++) {
    const tg_Map *map = &maps->list[i];
    if (map->path != NULL && (map->flags & TG_MAP_RUN) != 0
        && strcmp(map->path, maps->list[first].path) == 0)
      return true;
  }
  return false;
}

bool tg_ident_find (tg_Memory *m, const char *root, tg_IdentMemo *memo,
                    tg_Idents *found) {
  *found = (tg_Idents){0};
  for (uint32_t i = 0; i < m->maps.count; i++) {
    const tg_Map *map = &m->maps.list[i];
    if (map->path == NULL || (map->flags & TG_MAP_DEVICE) != 0
        || !is_first_of(&m->maps, i)
        || (m->core == NULL && !has_code(&m->maps, i)))
      continue;
    if (search_file(found, root, map, memo) || m->core != NULL)
      continue;
    for (uint32_t j = i; j < m->maps.count; j++) {
      const tg_Map *part = &m->maps.list[j];
      if (part->path != NULL && strcmp(part->path, map->path) == 0
          && (part->flags & TG_MAP_WRITE) == 0)
        search_memory(found, m, part);
    }
  }
  return found->count > 0;
}

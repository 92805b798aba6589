/* maps.c - see maps.h. */
#include "outside/maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "text/fileio.h"

#define MAPS_MOST (1u << 20)
#define TEXT_MOST ((size_t)1 << 28)

bool tg_maps_add (tg_Maps *maps, const tg_Map *map, const char *path) {
  if (maps->count >= MAPS_MOST
      || !tg_grow(&maps->list, &maps->capacity, maps->count + 1,
                  sizeof *maps->list))
    return false;
  tg_Map *added = &maps->list[maps->count];
  *added = *map;
  added->path = tg_strcopy(path);
  if (path != NULL && added->path == NULL)
    return false;
  maps->count++;
  return true;
}

static uint32_t flags_of (const char *access, const char *path) {
  uint32_t flags = 0;
  flags |= (access[0] == 'r') ? TG_MAP_READ : 0u;
  flags |= (access[1] == 'w') ? TG_MAP_WRITE : 0u;
  flags |= (access[2] == 'x') ? TG_MAP_RUN : 0u;
  flags |= (access[3] == 's') ? TG_MAP_SHARED : 0u;
  flags |= (strcmp(path, "[heap]") == 0) ? TG_MAP_HEAP : 0u;
  flags |= (strcmp(path, "[stack]") == 0) ? TG_MAP_STACK : 0u;
  if (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "[v", 2) == 0)
    flags |= TG_MAP_DEVICE;
  return flags;
}

/* A line of proc_pid_maps(5); the path has what is left of it. */
static bool add_line (tg_Maps *maps, char *line) {
  tg_Map map = {0};
  char access[5];
  unsigned major, minor;
  int used = 0;
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64
             " %n", &map.start, &map.end, access, &map.offset, &major, &minor,
             &map.inode, &used) < 7)
    return true;
  char *path = line + used;
  path[strcspn(path, "\n")] = '\0';
  map.device = makedev(major, minor);
  map.flags = flags_of(access, path);
  return tg_maps_add(maps, &map, map.inode != 0 ? path : NULL);
}

static bool add_lines (tg_Maps *maps, char *text) {
  for (char *line = text, *end; *line != '\0'; line = end) {
    end = strchr(line, '\n');
    end = (end != NULL) ? end + 1 : line + strlen(line);
    char first = *end;
    *end = '\0';
    if (!add_line(maps, line))
      return false;
    *end = first;
  }
  return true;
}

/* Not by stdio, since a child that was made by clone alone reads its own (see
   apart.h). */
bool tg_maps_read (tg_Maps *maps, int pid) {
  char path[64];
  tg_Buf text = {0};
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  errno = 0;
  bool good = tg_fileio_text(path, TEXT_MOST, &text);
  tg_buf_addchar(&text, '\0');
  good = good && !text.failed && add_lines(maps, text.data);
  int error = good ? 0 : (errno != 0) ? errno : ENOMEM;
  tg_buf_free(&text);
  errno = error;
  return good;
}

const void *tg_maps_search (const void *list, uint32_t count, size_t size,
                            uint64_t at) {
  const char *entries = list;
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const uint64_t *span = (const void *)(entries + middle * size);
    if (span[1] <= at)
      low = middle + 1;
    else
      high = middle;
  }
  const uint64_t *found = (const void *)(entries + low * size);
  return low < count && found[0] <= at ? found : NULL;
}

const tg_Map *tg_maps_find (const tg_Maps *maps, uint64_t at) {
  return tg_maps_search(maps->list, maps->count, sizeof *maps->list, at);
}

void tg_maps_free (tg_Maps *maps) {
  for (uint32_t i = 0; i < maps->count; i++)
    tg_free(maps->list[i].path);
  tg_free(maps->list);
  *maps = (tg_Maps){0};
}

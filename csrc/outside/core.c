/* core.c - see core.h. Notes: elf(5), gABI, and fs/binfmt_elf.c for NT_FILE. */
#include "outside/core.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "outside/coreheap.h"
#include "outside/unpack.h"
#include "text/fileio.h"

/*
** {==================================================================
** Reading
** ===================================================================
*/

static const tg_Segment *segment_of (const tg_Core *c, uint64_t at) {
  return tg_maps_search(c->segments, c->nsegments, sizeof *c->segments, at);
}

/* How many of 'size' bytes from 'at' on the core itself has. */
static size_t read_segment (const tg_Core *c, uint64_t at, uint8_t *to,
                            size_t size) {
  const tg_Segment *g = segment_of(c, at);
  if (g == NULL || at - g->start >= g->size)
    return 0;
  uint64_t left = g->size - (at - g->start);
  size_t n = (left < size) ? (size_t)left : size;
  memcpy(to, c->data + g->offset + (at - g->start), n);
  return n;
}

static const tg_CoreFile *file_of (tg_Core *c, const tg_Maps *maps,
                                   const tg_Map *map);

/* The same of a file that was mapped there. */
static size_t read_file (tg_Core *c, const tg_Maps *maps, uint64_t at,
                         uint8_t *to, size_t size) {
  const tg_Map *map = tg_maps_find(maps, at);
  if (map == NULL || map->path == NULL)
    return 0;
  const tg_CoreFile *file = file_of(c, maps, map);
  if (file == NULL || file->fd < 0)
    return 0;
  uint64_t left = map->end - at;
  size_t n = (left < size) ? (size_t)left : size;
  ssize_t got = pread(file->fd, to, n, (off_t)(map->offset
                                               + (at - map->start)));
  return (got > 0) ? (size_t)got : 0;
}

static bool read_range (tg_Memory *m, const tg_Range *range) {
  size_t done = 0;
  while (done < range->size) {
    uint64_t at = range->at + done;
    size_t n = read_segment(m->core, at, range->to + done, range->size - done);
    if (n == 0)
      n = read_file(m->core, &m->maps, at, range->to + done,
                    range->size - done);
    if (n == 0)
      return false;
    done += n;
  }
  return true;
}

static uint32_t read_ranges (tg_Memory *m, const tg_Range *list, uint32_t n) {
  uint32_t i = 0;
  while (i < n && read_range(m, &list[i]))
    i++;
  return i;
}

/* }================================================================== */

/*
** {==================================================================
** Files that were mapped
** ===================================================================
*/

/* Whether the file begins as the mapped one did, as far as the core tells. */
static bool same_beginning (const tg_Core *c, const tg_Maps *maps,
                            const char *path, int fd) {
  uint8_t was[TG_PAGE], is[TG_PAGE];
  for (uint32_t i = 0; i < maps->count; i++) {
    const tg_Map *map = &maps->list[i];
    if (map->offset != 0 || map->path == NULL || strcmp(map->path, path) != 0)
      continue;
    size_t n = read_segment(c, map->start, was, sizeof was);
    return n == 0 || (pread(fd, is, n, 0) == (ssize_t)n
                      && memcmp(was, is, n) == 0);
  }
  return true;
}

static int open_file (const tg_Core *c, const tg_Maps *maps,
                      const char *path) {
  char full[8600];
  struct stat st;
  snprintf(full, sizeof full, "%s%s", c->sysroot, path);
  int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return -1;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
      && same_beginning(c, maps, path, fd))
    return fd;
  close(fd);
  return -1;
}

static const tg_CoreFile *file_of (tg_Core *c, const tg_Maps *maps,
                                   const tg_Map *map) {
  for (uint32_t i = 0; i < c->nfiles; i++) {
    if (strcmp(c->files[i].path, map->path) == 0)
      return &c->files[i];
  }
  if (!tg_grow(&c->files, &c->files_capacity, c->nfiles + 1,
               sizeof *c->files))
    return NULL;
  c->files[c->nfiles] = (tg_CoreFile){map->path,
                                      open_file(c, maps, map->path)};
  return &c->files[c->nfiles++];
}

/* }================================================================== */

/*
** {==================================================================
** Opening
** ===================================================================
*/

static bool add_segment (tg_Core *c, const Elf64_Phdr *h) {
  uint64_t size = (h->p_filesz < h->p_memsz) ? h->p_filesz : h->p_memsz;
  if (h->p_offset > c->size || h->p_vaddr + h->p_memsz < h->p_vaddr)
    return true;
  if (size > c->size - h->p_offset)     /* it was cut off */
    size = c->size - h->p_offset;
  if (!tg_grow(&c->segments, &c->segments_capacity, c->nsegments + 1,
               sizeof *c->segments))
    return false;
  c->segments[c->nsegments++] = (tg_Segment){
    h->p_vaddr, h->p_vaddr + h->p_memsz, h->p_offset, size};
  return true;
}

/* Segments are maps as well; which file each is of, NT_FILE says. */
static bool add_map (tg_Memory *m, const Elf64_Phdr *h) {
  tg_Map map = {.start = h->p_vaddr, .end = h->p_vaddr + h->p_memsz};
  map.flags |= (h->p_flags & PF_R) ? TG_MAP_READ : 0u;
  map.flags |= (h->p_flags & PF_W) ? TG_MAP_WRITE : 0u;
  map.flags |= (h->p_flags & PF_X) ? TG_MAP_RUN : 0u;
  return map.end <= map.start || tg_maps_add(&m->maps, &map, NULL);
}

static bool add_thread (tg_Core *c, const uint8_t *note, size_t size) {
  struct elf_prstatus status;
  if (size < sizeof status)
    return true;
  memcpy(&status, note, sizeof status);
  if (c->nthreads == 0) {
    c->pid = status.pr_pid;
    c->signal = status.pr_cursig;
  }
  if (!tg_grow(&c->threads, &c->threads_capacity, c->nthreads + 1,
               sizeof *c->threads))
    return false;
  tg_registers_take(&c->threads[c->nthreads++], &status.pr_reg,
                    sizeof status.pr_reg);
  return true;
}

/* The process has another number than its thread that failed. */
static void take_process (tg_Core *c, const uint8_t *note, size_t size) {
  struct elf_prpsinfo info;
  if (size < sizeof info)
    return;
  memcpy(&info, note, sizeof info);
  c->pid = info.pr_pid;
}

/* A file's part that has no segment is a map of its own; only the first
   'sorted' are in order as yet. */
static bool name_map (tg_Memory *m, uint32_t sorted, const uint64_t *entry,
                      uint64_t offset, const char *path) {
  tg_Maps known = {m->maps.list, sorted, sorted};
  const tg_Map *found = tg_maps_find(&known, entry[0]);
  if (found == NULL) {
    tg_Map map = {.start = entry[0], .end = entry[1], .offset = offset,
                  .inode = 1, .flags = TG_MAP_READ};
    return map.end <= map.start || tg_maps_add(&m->maps, &map, path);
  }
  tg_Map *map = &m->maps.list[found - m->maps.list];
  if (map->start != entry[0] || map->path != NULL)
    return true;
  map->path = tg_strcopy(path);
  map->offset = offset;
  map->inode = 1;
  return map->path != NULL;
}

static int map_by_start (const void *a, const void *b) {
  const tg_Map *x = a, *y = b;
  return (x->start > y->start) - (x->start < y->start);
}

static void sort_maps (tg_Memory *m) {
  if (m->maps.count > 1)
    qsort(m->maps.list, m->maps.count, sizeof *m->maps.list, map_by_start);
}

/* count, page size, then start, end and offset of each, then the paths. */
static void take_files (tg_Memory *m, const uint8_t *note, size_t size) {
  uint64_t head[2], entry[3];
  if (size < sizeof head)
    return;
  memcpy(head, note, sizeof head);
  uint64_t most = (size - sizeof head) / sizeof entry;
  if (head[0] > most || head[1] == 0 || head[1] > (1u << 20))
    return;
  const char *path = (const char *)note + sizeof head
                     + head[0] * sizeof entry;
  const char *end = (const char *)note + size;
  uint32_t sorted = m->maps.count;
  for (uint64_t i = 0; i < head[0]; i++) {
    const char *stop = memchr(path, '\0', (size_t)(end - path));
    if (stop == NULL)
      break;
    memcpy(entry, note + sizeof head + i * sizeof entry, sizeof entry);
    if (!name_map(m, sorted, entry, entry[2] * head[1], path))
      break;
    path = stop + 1;
  }
  sort_maps(m);
}

/* Pairs of a number and a value (getauxval(3)). */
static void take_auxiliary (tg_Core *c, const uint8_t *note, size_t size) {
  uint64_t pair[2];
  for (size_t i = 0; i + sizeof pair <= size; i += sizeof pair) {
    memcpy(pair, note + i, sizeof pair);
    if (pair[0] == AT_PHDR)
      c->headers = pair[1];
    else if (pair[0] == AT_PHNUM)
      c->nheaders = pair[1];
  }
}

static bool take_note (tg_Core *c, tg_Memory *m, uint32_t type,
                       const uint8_t *note, size_t size) {
  switch (type) {
    case NT_PRSTATUS: return add_thread(c, note, size);
    case NT_PRPSINFO: take_process(c, note, size); return true;
    case NT_AUXV: take_auxiliary(c, note, size); return true;
    case NT_FILE: take_files(m, note, size); return true;
    default: return true;
  }
}

static uint64_t padded (uint64_t size) {
  return (size + 3) & ~UINT64_C(3);
}

static bool take_notes (tg_Core *c, tg_Memory *m, const Elf64_Phdr *h) {
  uint64_t size = h->p_filesz, place = 0;
  if (h->p_offset > c->size || size > c->size - h->p_offset)
    return true;
  const uint8_t *notes = c->data + h->p_offset;
  while (size - place >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    memcpy(&note, notes + place, sizeof note);
    uint64_t body = place + sizeof note + padded(note.n_namesz);
    if (body > size || note.n_descsz > size - body)
      return true;
    if (!take_note(c, m, note.n_type, notes + body, note.n_descsz))
      return false;
    place = body + padded(note.n_descsz);
    if (place > size)
      return true;
  }
  return true;
}

static int by_start (const void *a, const void *b) {
  const tg_Segment *x = a, *y = b;
  return (x->start > y->start) - (x->start < y->start);
}

typedef bool EachHeader (tg_Core *c, tg_Memory *m, const Elf64_Phdr *h);

static bool take_load (tg_Core *c, tg_Memory *m, const Elf64_Phdr *h) {
  return h->p_type != PT_LOAD || (add_segment(c, h) && add_map(m, h));
}

static bool take_note_header (tg_Core *c, tg_Memory *m, const Elf64_Phdr *h) {
  return h->p_type != PT_NOTE || take_notes(c, m, h);
}

/* A core of 65535 segments and more says how many in its first section. */
static uint64_t headers_of (const tg_Core *c, const Elf64_Ehdr *e) {
  Elf64_Shdr section;
  if (e->e_phnum != PN_XNUM || e->e_shoff > c->size
      || c->size - e->e_shoff < sizeof section)
    return e->e_phnum;
  memcpy(&section, c->data + e->e_shoff, sizeof section);
  return section.sh_info;
}

static bool each_header (tg_Core *c, tg_Memory *m, const Elf64_Ehdr *e,
                         EachHeader *f) {
  uint64_t n = headers_of(c, e);
  for (uint64_t i = 0; i < n; i++) {
    Elf64_Phdr h;
    uint64_t at = e->e_phoff + i * sizeof h;
    if (at > c->size || c->size - at < sizeof h)
      return true;
    memcpy(&h, c->data + at, sizeof h);
    if (!f(c, m, &h))
      return false;
  }
  return true;
}

static bool is_core (const tg_Core *c, Elf64_Ehdr *e, const char **why) {
  *why = "is no core file";
  if (c->size < sizeof *e)
    return false;
  memcpy(e, c->data, sizeof *e);
  if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_type != ET_CORE)
    return false;
  *why = "is a core of another kind of machine";
  return e->e_ident[EI_CLASS] == ELFCLASS64
         && e->e_ident[EI_DATA] == ELFDATA2LSB && e->e_machine == TG_MACHINE
         && e->e_phentsize == sizeof(Elf64_Phdr);
}

static bool map_file (tg_Core *c, const char *path, tg_Buf *words) {
  struct stat st;
  int fd = tg_unpack_open(path, words);
  if (fd < 0)
    return false;
  void *data = MAP_FAILED;
  if (fstat(fd, &st) == 0 && st.st_size > 0)
    data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (data == MAP_FAILED) {
    tg_buf_addfmt(words, "%s is no core file", path);
    return false;
  }
  c->data = data;
  c->size = (size_t)st.st_size;
  return true;
}

/* The program is the file that the first mapped code is of. */
static void take_exe (tg_Core *c, const tg_Maps *maps) {
  for (uint32_t i = 0; i < maps->count && c->exe[0] == '\0'; i++) {
    if (maps->list[i].path != NULL)
      snprintf(c->exe, sizeof c->exe, "%s", maps->list[i].path);
  }
}

/* Another file in the program's place, which must be the same build. */
static bool put_exe (tg_Core *c, const tg_Maps *maps, const char *exe,
                     tg_Buf *words) {
  int fd = open(exe, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    tg_buf_addfmt(words, "%s: %s", exe, strerror(errno));
    return false;
  }
  for (uint32_t i = 0; i < maps->count; i++) {
    const char *path = maps->list[i].path;
    if (path == NULL || strcmp(path, c->exe) != 0)
      continue;
    if (!same_beginning(c, maps, path, fd)
        || !tg_grow(&c->files, &c->files_capacity, c->nfiles + 1,
                    sizeof *c->files))
      break;
    c->files[c->nfiles++] = (tg_CoreFile){path, fd};
    return true;
  }
  close(fd);
  tg_buf_addfmt(words, "%s is not the program of %s: another build", exe,
                c->path);
  return false;
}

bool tg_core_open (tg_Core *c, tg_Memory *m, const char *path,
                   const char *exe, const char *sysroot, tg_Buf *words) {
  Elf64_Ehdr e;
  const char *why;
  memset(c, 0, sizeof *c);
  tg_memory_init(m, read_ranges);
  m->core = c;
  snprintf(c->path, sizeof c->path, "%s", path);
  snprintf(c->sysroot, sizeof c->sysroot, "%s",
           (sysroot != NULL) ? sysroot : "");
  if (!map_file(c, path, words))
    return false;
  if (!is_core(c, &e, &why)) {
    tg_buf_addfmt(words, "%s %s", path, why);
    return false;
  }
  if (!each_header(c, m, &e, take_load)) {
    tg_buf_addstr(words, "not enough memory");
    return false;
  }
  if (c->nsegments > 1)
    qsort(c->segments, c->nsegments, sizeof *c->segments, by_start);
  sort_maps(m);
  if (!each_header(c, m, &e, take_note_header)) {
    tg_buf_addstr(words, "not enough memory");
    return false;
  }
  take_exe(c, &m->maps);
  if (exe != NULL && !put_exe(c, &m->maps, exe, words))
    return false;
  tg_coreheap_mark(m, c->headers, c->nheaders);
  return true;
}

void tg_core_close (tg_Core *c) {
  for (uint32_t i = 0; i < c->nfiles; i++) {
    if (c->files[i].fd >= 0)
      close(c->files[i].fd);
  }
  tg_free(c->files);
  tg_free(c->segments);
  tg_free(c->threads);
  if (c->data != NULL)
    munmap((void *)(uintptr_t)c->data, c->size);
  memset(c, 0, sizeof *c);
}

/* }================================================================== */

const tg_Registers *tg_core_thread (const tg_Core *c, const tg_Maps *maps,
                                    uint64_t at) {
  const tg_Map *map = tg_maps_find(maps, at);
  for (uint32_t i = 0; map != NULL && i < c->nthreads; i++) {
    uint64_t stack = c->threads[i].stack;
    if (stack >= map->start && stack < map->end)
      return &c->threads[i];
  }
  return NULL;
}

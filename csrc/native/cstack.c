/* cstack.c - see cstack.h. */
#include "native/cstack.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DWARF_CB_OK 0
#define DWARF_CB_ABORT 1

/*
** {==================================================================
** What libdw asks for
** ===================================================================
*/

static pid_t next_thread (Dwfl *dwfl, void *arg, void **thread) {
  tg_CStack *c = arg;
  (void)dwfl;
  if (*thread != NULL)
    return 0;
  *thread = c;
  return c->memory->pid;
}

static bool get_thread (Dwfl *dwfl, pid_t tid, void *arg, void **thread) {
  (void)dwfl;
  (void)tid;
  *thread = arg;
  return true;
}

static bool memory_read (Dwfl *dwfl, uint64_t at, uint64_t *word, void *arg) {
  tg_CStack *c = arg;
  uint64_t from = c->registers->stack;
  (void)dwfl;
  if (at >= from && at - from <= c->copy_size
      && c->copy_size - (at - from) >= sizeof *word) {
    memcpy(word, c->copy + (at - from), sizeof *word);
    return true;
  }
  return tg_memory_block(c->memory, at, word, sizeof *word);
}

/* In DWARF's numbers. */
static bool set_registers (Dwfl_Thread *thread, void *arg) {
  tg_CStack *c = arg;
  uint64_t words[TG_REGISTER_DWARFS];
  tg_registers_dwarf(c->registers, words);
  if (!c->lib->thread_state_registers(thread, 0, TG_REGISTER_DWARFS, words))
    return false;
  c->lib->thread_state_register_pc(thread, c->registers->pc);
  return true;
}

static const tg_DwflThreads threads = {
  .next_thread = next_thread, .get_thread = get_thread,
  .memory_read = memory_read, .set_initial_registers = set_registers
};

/* A return address is behind the call, and may be another function's. */
static int take_frame (Dwfl_Frame *frame, void *arg) {
  tg_CStack *c = arg;
  uint64_t pc;
  bool activation;
  if (!c->lib->frame_pc(frame, &pc, &activation)
      || c->count == TG_CSTACK_FRAMES)
    return DWARF_CB_ABORT;
  if (pc == 0)
    return DWARF_CB_OK;
  uint32_t place = tg_ccodes_at(&c->codes, activation ? pc : pc - 1);
  if (place == TG_INTMAP_NONE)
    return DWARF_CB_ABORT;
  c->list[c->count++] = place;
  return DWARF_CB_OK;
}

/* }================================================================== */

/*
** {==================================================================
** Files
** ===================================================================
*/

/* Code of files; the same maps have the same number. */
static uint64_t mark_of (const tg_Maps *maps) {
  uint64_t mark = UINT64_C(0xcbf29ce484222325);
  for (uint32_t i = 0; i < maps->count; i++) {
    const tg_Map *map = &maps->list[i];
    if ((map->flags & TG_MAP_RUN) != 0 && map->path != NULL)
      mark = (mark ^ map->start ^ map->end ^ map->inode << 20)
             * UINT64_C(0x100000001b3);
  }
  return mark;
}

/* Where a file begins that has code at 'i': its map of offset 0. */
static const tg_Map *first_of (const tg_Maps *maps, uint32_t i) {
  while (maps->list[i].offset != 0 && i > 0 && maps->list[i - 1].path != NULL
         && strcmp(maps->list[i].path, maps->list[i - 1].path) == 0)
    i--;
  return &maps->list[i];
}

/* The file that was mapped, as the process sees it; -1: it is gone, or another
   one is in its place. */
static int open_mapped (const tg_CStack *c, const tg_Map *map) {
  char path[8300];
  struct stat st;
  int n = snprintf(path, sizeof path, "%s%s", c->root, map->path);
  if (n < 0 || (size_t)n >= sizeof path)
    return -1;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
      && st.st_ino == map->inode)
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

/* What is reported has the file from then on. */
static void report (tg_CStack *c, const tg_Map *map) {
  int fd = (map->offset == 0) ? open_mapped(c, map) : -1;
  if (fd < 0)
    return;
  Dwfl_Module *module = c->lib->report_elf(c->dwfl, map->path, map->path, fd,
                                           map->start, false);
  if (module != NULL)
    tg_ccodes_meet(&c->codes, module);
  else
    close(fd);
}

static void report_all (tg_CStack *c) {
  const tg_Maps *maps = &c->memory->maps;
  const tg_Map *last = NULL;
  for (uint32_t i = 0; i < maps->count; i++) {
    const tg_Map *map = &maps->list[i];
    if ((map->flags & TG_MAP_RUN) == 0 || map->path == NULL
        || *map->path != '/')
      continue;
    map = first_of(maps, i);
    if (map != last)
      report(c, map);
    last = map;
  }
}

static int no_elf (Dwfl_Module *module, void **data, const char *name,
                   uint64_t base, char **file, void **elf) {
  (void)module;
  (void)data;
  (void)name;
  (void)base;
  (void)file;
  (void)elf;
  return -1;
}

static void close_files (tg_CStack *c) {
  tg_ccodes_close(&c->codes);
  if (c->dwfl != NULL)
    c->lib->end(c->dwfl);
  c->dwfl = NULL;
}

static void open_files (tg_CStack *c) {
  c->callbacks = (tg_DwflCallbacks){
    .find_elf = no_elf, .find_debuginfo = c->lib->standard_find_debuginfo
  };
  c->mark = mark_of(&c->memory->maps);
  c->dwfl = c->lib->begin(&c->callbacks);
  if (c->dwfl == NULL)
    return;
  tg_ccodes_open(&c->codes, c->lib, c->dwfl, c->memory);
  c->lib->report_begin(c->dwfl);
  report_all(c);
  if (c->lib->report_end(c->dwfl, NULL, NULL) != 0
      || !c->lib->attach_state(c->dwfl, NULL, c->memory->pid, &threads, c))
    close_files(c);
}

/* }================================================================== */

bool tg_cstack_open (tg_CStack *c, tg_Memory *memory, const char *root) {
  *c = (tg_CStack){.lib = tg_libdw(), .memory = memory, .root = root};
  if (c->lib != NULL)
    open_files(c);
  return c->lib != NULL;
}

void tg_cstack_close (tg_CStack *c) {
  if (c->lib != NULL)
    close_files(c);
  *c = (tg_CStack){0};
}

bool tg_cstack_renew (tg_CStack *c) {
  if (c->lib == NULL || c->mark == mark_of(&c->memory->maps))
    return false;
  close_files(c);
  open_files(c);
  return true;
}

void tg_cstack_unwind (tg_CStack *c, const tg_Registers *registers,
                       const uint8_t *copy, size_t size) {
  c->count = 0;
  c->whole = false;
  if (c->dwfl == NULL || registers->count == 0)
    return;
  c->registers = registers;
  c->copy = copy;
  c->copy_size = (copy != NULL) ? size : 0;
  c->whole = c->lib->getthread_frames(c->dwfl, c->memory->pid, take_frame, c)
             == 0;
  c->registers = NULL;
  c->copy = NULL;
}

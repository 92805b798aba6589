/*
** test_outside.c - the memory source: pages, maps, our own process, a child
** that is stopped, cores that are put together here and changed. What is found
** in a Lua state's memory, specs compare with the state's own word
** (spec/outside).
*/
#include "outside/core.h"
#include "outside/halt.h"
#include "outside/ident.h"
#include "outside/process.h"
#include "text/fileio.h"
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/wait.h>
#include <unistd.h>

/*
** {==================================================================
** Pages
** ===================================================================
*/

/* Two pages from WHERE on, and nothing else. */
#define WHERE UINT64_C(0x10000)

static uint8_t two[2 * TG_PAGE];
static unsigned calls;

static uint32_t read_two (tg_Memory *m, const tg_Range *list, uint32_t n) {
  (void)m;
  calls++;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t from = list[i].at - WHERE;
    if (list[i].at < WHERE || from + list[i].size > sizeof two)
      return i;
    memcpy(list[i].to, two + from, list[i].size);
  }
  return n;
}

/* The same, but the first page has changed when it is read the second time in
   one call. */
static uint32_t read_moving (tg_Memory *m, const tg_Range *list, uint32_t n) {
  unsigned times = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (list[i].at == WHERE && ++times == 2)
      two[100]++;
    if (read_two(m, &list[i], 1) != 1)
      return i;
  }
  return n;
}

static void what_is_fresh_is_read_twice (void) {
  tg_Memory m;
  tg_memory_init(&m, read_moving);
  tg_memory_fresh(&m, WHERE + TG_PAGE - 8, 16);
  tg_memory_renew(&m);
  UNIT_CHECK(tg_memory_fresh(&m, WHERE + TG_PAGE - 8, 16));
  UNIT_CHECK(tg_memory_settled(&m, WHERE + 92, 8));
  UNIT_CHECK(!tg_memory_settled(&m, WHERE + 100, 8));
  UNIT_CHECK(tg_memory_settled(&m, WHERE + TG_PAGE, 8));
  two[200] = 7;
  UNIT_CHECK(tg_memory_byte(&m, WHERE + 200) == 0);
  tg_memory_renew(&m);
  UNIT_CHECK(tg_memory_byte(&m, WHERE + 200) == 7);
  tg_memory_free(&m);
}

/* Nobody asks for a page any more: it is not read after a while. */
static void what_nobody_asks_for_is_left (void) {
  tg_Memory m;
  tg_memory_init(&m, read_two);
  tg_memory_fresh(&m, WHERE, 8);
  for (int i = 0; i < 300; i++)
    tg_memory_renew(&m);
  UNIT_CHECK(m.nfresh == 0);
  tg_memory_renew(&m);
  UNIT_CHECK(!tg_memory_fresh(&m, WHERE, 8));
  UNIT_CHECK(!tg_memory_fresh(&m, UINT64_C(0x900000), 8));
  tg_memory_renew(&m);
  UNIT_CHECK(!tg_memory_settled(&m, UINT64_C(0x900000), 8));
  tg_memory_free(&m);
}

static void words_come_from_pages (void) {
  tg_Memory m;
  tg_memory_init(&m, read_two);
  two[TG_PAGE - 4] = 0x11;
  two[TG_PAGE + 3] = 0x22;
  calls = 0;
  uint64_t word = tg_memory_word(&m, WHERE + TG_PAGE - 4);
  UNIT_CHECK(word == UINT64_C(0x2200000000000011));
  UNIT_CHECK(calls == 2);
  for (uint64_t at = WHERE; at < WHERE + 2 * TG_PAGE; at++)
    tg_memory_byte(&m, at);
  UNIT_CHECK(calls == 2);
  UNIT_CHECK(m.faults == 0);
  tg_memory_free(&m);
}

static void all_pages_are_read_anew_by_one_call (void) {
  tg_Memory m;
  tg_memory_init(&m, read_two);
  two[0] = two[TG_PAGE] = 1;
  UNIT_CHECK(tg_memory_byte(&m, WHERE) == 1);
  UNIT_CHECK(tg_memory_byte(&m, WHERE + TG_PAGE) == 1);
  two[0] = two[TG_PAGE] = 2;
  UNIT_CHECK(tg_memory_byte(&m, WHERE) == 1);
  calls = 0;
  tg_memory_refresh(&m);
  UNIT_CHECK(calls == 1);
  UNIT_CHECK(tg_memory_byte(&m, WHERE) == 2);
  UNIT_CHECK(tg_memory_byte(&m, WHERE + TG_PAGE) == 2);
  tg_memory_free(&m);
}

/* Of another process a page costs one call of the system, until pages are read
   anew or another one has its place. */
static void what_is_not_kept_is_read_a_page_at_a_time (void) {
  static const uint64_t far = UINT64_C(0x100000000);
  tg_Memory m;
  tg_memory_init(&m, read_two);
  m.pid = 1;
  for (uint64_t i = 0; i < TG_MEMORY_PAGES; i++)
    tg_memory_byte(&m, far + i * TG_PAGE);
  two[8] = two[TG_PAGE] = 5;
  calls = 0;
  UNIT_CHECK(tg_memory_byte(&m, WHERE + 8) == 5);
  UNIT_CHECK(tg_memory_word(&m, WHERE + TG_PAGE - 7) >> 56 == 5);
  UNIT_CHECK(calls == 2);
  two[8] = 6;
  UNIT_CHECK(tg_memory_byte(&m, WHERE + 8) == 5);
  tg_memory_renew(&m);
  UNIT_CHECK(tg_memory_byte(&m, WHERE + 8) == 6);
  two[8] = 7;
  tg_memory_byte(&m, far + (UINT64_C(1) << 30) + WHERE);
  UNIT_CHECK(tg_memory_byte(&m, WHERE + 8) == 7);
  tg_memory_free(&m);
}

static void what_is_not_there_is_zeros_and_counted (void) {
  static const uint64_t places[] = {
    0, WHERE - 4, WHERE + 2 * TG_PAGE - 4, UINT64_MAX, UINT64_MAX - 7
  };
  tg_Memory m;
  tg_memory_init(&m, read_two);
  memset(two, 0xff, sizeof two);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    UNIT_CHECK(tg_memory_word(&m, places[i]) == 0);
    UNIT_CHECK(m.faults == i + 1);
  }
  tg_memory_free(&m);
}

/* }================================================================== */

/*
** {==================================================================
** Processes
** ===================================================================
*/

static int here = 42;

static void our_own_process_is_a_memory (void) {
  tg_Memory m;
  int there;
  UNIT_CHECK(tg_process_open(&m, getpid()));
  UNIT_CHECK(tg_process_readable(&m));
  UNIT_CHECK(tg_memory_get(&m, (uintptr_t)&here, &there, sizeof there));
  UNIT_CHECK(there == 42);
  const tg_Map *map = tg_maps_find(&m.maps, (uintptr_t)&here);
  UNIT_CHECK(map != NULL && (map->flags & TG_MAP_WRITE) != 0);
  UNIT_CHECK(tg_maps_find(&m.maps, 8) == NULL);
  tg_memory_free(&m);
}

static void a_process_that_is_not_there_is_an_error (void) {
  tg_Memory m;
  tg_Buf words = {0};
  UNIT_CHECK(!tg_process_open(&m, 1 << 30));
  tg_process_refusal(1 << 30, ESRCH, &words);
  UNIT_TEXT(&words, "there is no process 1073741824");
  tg_buf_free(&words);
  tg_memory_free(&m);
}

/* Counts in memory that we share with it. */
static pid_t counting_child (volatile uint64_t *count) {
  pid_t child = fork();
  if (child == 0) {
    for (;;)
      ++*count;
  }
  return child;
}

static void wait_for_more (volatile uint64_t *count) {
  uint64_t before = *count;
  while (*count == before)
    usleep(100);
}

/* Where ptrace is forbidden (a container) there is nothing to try. */
static void a_thread_stands_still_and_goes_on (void) {
  volatile uint64_t *count = mmap(NULL, TG_PAGE, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  tg_Halt h;
  int status;
  pid_t child = counting_child(count);
  wait_for_more(count);
  if (tg_halt_begin(&h, child, child)) {
    uint64_t then = *count;
    usleep(20000);
    UNIT_CHECK(h.kind == TG_HALT_STOPPED);
    UNIT_CHECK(*count == then);
    UNIT_CHECK(h.registers.count > 0 && h.registers.stack != 0);
    tg_halt_end(&h);
    UNIT_CHECK(h.took_ns > 0);
    wait_for_more(count);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  munmap((void *)(uintptr_t)count, TG_PAGE);
}

/* A child whose thread cannot stop: it has lent its memory (vfork) to one that
   reads from a pipe. When that has ended it counts. */
static pid_t lending_child (int from, volatile uint64_t *count) {
  pid_t child = fork();
  if (child == 0) {
    char byte;
    *count = 1;
    if (vfork() == 0)
      _exit((int)read(from, &byte, 1));
    for (;;)
      ++*count;
  }
  return child;
}

static void wait_for_state (pid_t child, char state) {
  while (tg_process_state(child, child) != state)
    usleep(100);
}

static void a_thread_that_stops_late_is_let_go_of (void) {
  volatile uint64_t *count = mmap(NULL, TG_PAGE, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  tg_Halt h;
  int ends[2];
  UNIT_CHECK(pipe(ends) == 0);
  pid_t child = lending_child(ends[0], count);
  wait_for_state(child, 'D');
  UNIT_CHECK(!tg_halt_stop(&h, child, child));
  if (h.late) {                 /* else ptrace is forbidden */
    UNIT_CHECK(!tg_halt_release(&h));
    UNIT_CHECK(write(ends[1], "x", 1) == 1);
    wait_for_state(child, 't');
    UNIT_CHECK(tg_halt_release(&h) && !h.late);
    wait_for_more(count);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(ends[0]);
  close(ends[1]);
  munmap((void *)(uintptr_t)count, TG_PAGE);
}

static void *kill_soon (void *child) {
  usleep(50000);
  kill((pid_t)(intptr_t)child, SIGKILL);
  return NULL;
}

static void a_child_that_ends_meanwhile_is_its_parents (void) {
  volatile uint64_t *count = mmap(NULL, TG_PAGE, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  tg_Halt h;
  pthread_t killer;
  int ends[2], status = 0;
  UNIT_CHECK(pipe(ends) == 0);
  pid_t child = lending_child(ends[0], count);
  wait_for_state(child, 'D');
  pthread_create(&killer, NULL, kill_soon, (void *)(intptr_t)child);
  UNIT_CHECK(!tg_halt_stop(&h, child, child) && !h.late);
  UNIT_CHECK(waitpid(child, &status, 0) == child);
  UNIT_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  pthread_join(killer, NULL);
  UNIT_CHECK(write(ends[1], "x", 1) == 1);      /* the borrower ends, too */
  close(ends[0]);
  close(ends[1]);
  munmap((void *)(uintptr_t)count, TG_PAGE);
}

/* }================================================================== */

static void only_releases_are_releases (void) {
  UNIT_CHECK(tg_ident_release("5.4.4 Copyright", 15) == 50404);
  UNIT_CHECK(tg_ident_release("5.4.12", 6) == 50412);
  UNIT_CHECK(tg_ident_release("5.1 Copyright", 13) == 50100);
  UNIT_CHECK(tg_ident_release("5.1 Copyrigh", 12) == 0);
  UNIT_CHECK(tg_ident_release("5.4", 3) == 0);
  UNIT_CHECK(tg_ident_release("5.4.x", 5) == 0);
  UNIT_CHECK(tg_ident_release("5.4.4", 4) == 0);
}

/* A file of ours that says so, mapped as code is; what a memo tells of it is
   what the file says by now. The words are put together here, or else this very
   program would say them. */
static void what_a_file_says_is_kept_until_it_changes (void) {
  tg_IdentMemo *memo = calloc(1, sizeof *memo);
  char path[] = "/tmp/identXXXXXX";
  int fd = mkstemp(path);
  UNIT_CHECK(fd >= 0 && memo != NULL);
  for (int i = 0; i < 4; i++) {
    tg_Memory m;
    tg_Idents found;
    if (i % 2 == 0)
      UNIT_CHECK(dprintf(fd, "$%s: Lua 5.%d.5 ", "Lua", 1 + i) > 0);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    UNIT_CHECK(code != MAP_FAILED && tg_process_open(&m, getpid()));
    uint64_t before = memo->count;
    UNIT_CHECK(tg_ident_find(&m, "", memo, &found));
    UNIT_CHECK(found.count == 1 + (i >= 2));
    UNIT_CHECK((memo->count > before) == (i % 2 == 0));
    tg_memory_free(&m);
    munmap(code, 4096);
  }
  close(fd);
  unlink(path);
  free(memo);
}

/*
** {==================================================================
** Cores
** ===================================================================
*/

#define AT UINT64_C(0x400000)

/* A core of one thread and one page, that names one file. */
typedef struct SmallCore {
  Elf64_Ehdr head;
  Elf64_Phdr notes, page;
  Elf64_Nhdr status_head;
  char status_name[12];         /* so long that what follows is in line */
  struct elf_prstatus status;
  Elf64_Nhdr files_head;
  char files_name[12];
  uint64_t files[5];            /* count, page size, start, end, offset */
  char path[16];
  uint8_t bytes[TG_PAGE];
} SmallCore;

static void set_note (Elf64_Nhdr *note, char *name, uint32_t type,
                      size_t size) {
  *note = (Elf64_Nhdr){.n_namesz = 12, .n_descsz = (uint32_t)size,
                       .n_type = type};
  memcpy(name, "CORE", 5);
}

static void make_core (SmallCore *c) {
  memset(c, 0, sizeof *c);
  memcpy(c->head.e_ident, ELFMAG, SELFMAG);
  c->head.e_ident[EI_CLASS] = ELFCLASS64;
  c->head.e_ident[EI_DATA] = ELFDATA2LSB;
  c->head.e_type = ET_CORE;
  c->head.e_machine = TG_MACHINE;
  c->head.e_phoff = offsetof(SmallCore, notes);
  c->head.e_phentsize = sizeof c->notes;
  c->head.e_phnum = 2;
  c->notes = (Elf64_Phdr){
    .p_type = PT_NOTE, .p_offset = offsetof(SmallCore, status_head),
    .p_filesz = offsetof(SmallCore, bytes) - offsetof(SmallCore, status_head)};
  c->page = (Elf64_Phdr){
    .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = AT,
    .p_offset = offsetof(SmallCore, bytes), .p_filesz = TG_PAGE,
    .p_memsz = 2 * TG_PAGE};
  set_note(&c->status_head, c->status_name, NT_PRSTATUS, sizeof c->status);
  c->status.pr_pid = 7;
  set_note(&c->files_head, c->files_name, NT_FILE,
           sizeof c->files + sizeof c->path);
  uint64_t files[] = {1, TG_PAGE, AT + 16 * TG_PAGE, AT + 17 * TG_PAGE, 0};
  memcpy(c->files, files, sizeof files);
  strcpy(c->path, "/nowhere/a.so");
  memset(c->bytes, 0x5a, sizeof c->bytes);
}

static bool open_core (const SmallCore *c, size_t size, tg_Core *core,
                       tg_Memory *m, tg_Buf *words) {
  char path[64];
  int fd = memfd_create("core", MFD_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  bool good = tg_fileio_write(fd, c, size, 0)
              && tg_core_open(core, m, path, NULL, NULL, words);
  close(fd);
  return good;
}

static void close_core (tg_Core *core, tg_Memory *m, tg_Buf *words) {
  tg_memory_free(m);
  tg_core_close(core);
  tg_buf_free(words);
}

static void a_core_has_its_segments_and_files (void) {
  SmallCore c;
  tg_Core core;
  tg_Memory m;
  tg_Buf words = {0};
  make_core(&c);
  UNIT_CHECK(open_core(&c, sizeof c, &core, &m, &words));
  UNIT_CHECK(core.pid == 7 && core.nthreads == 1);
  UNIT_CHECK(tg_memory_byte(&m, AT + 17) == 0x5a);
  UNIT_CHECK(m.faults == 0);
  UNIT_CHECK(tg_memory_byte(&m, AT + TG_PAGE) == 0 && m.faults == 1);
  const tg_Map *map = tg_maps_find(&m.maps, AT + 16 * TG_PAGE);
  UNIT_CHECK(map != NULL && strcmp(map->path, "/nowhere/a.so") == 0);
  UNIT_CHECK(tg_memory_byte(&m, AT + 16 * TG_PAGE) == 0 && m.faults == 2);
  close_core(&core, &m, &words);
}

static void what_is_no_core_is_refused (void) {
  SmallCore c;
  tg_Core core;
  tg_Memory m;
  tg_Buf words = {0};
  make_core(&c);
  c.head.e_type = ET_EXEC;
  UNIT_CHECK(!open_core(&c, sizeof c, &core, &m, &words));
  close_core(&core, &m, &words);
  make_core(&c);
  c.head.e_machine = EM_S390;
  UNIT_CHECK(!open_core(&c, sizeof c, &core, &m, &words));
  UNIT_CHECK(words.size > 0);
  close_core(&core, &m, &words);
}

/* Some words of all but the page are changed, and the file is cut: whatever is
   read then, it is in the file. */
static void a_changed_core_leads_nowhere (void) {
  uint64_t seed = 1;
  for (int i = 0; i < 3000; i++) {
    SmallCore c;
    tg_Core core;
    tg_Memory m;
    tg_Buf words = {0};
    uint8_t *bytes = (uint8_t *)&c;
    make_core(&c);
    for (uint32_t n = unit_random(&seed) % 6; n > 0; n--) {
      size_t at = unit_random(&seed) % offsetof(SmallCore, bytes);
      bytes[at] = (uint8_t)(unit_random(&seed) % 3 == 0
                            ? 0xff : unit_random(&seed));
    }
    size_t size = (i % 4 == 0) ? unit_random(&seed) % sizeof c : sizeof c;
    if (open_core(&c, size, &core, &m, &words)) {
      for (uint32_t n = 0; n < m.maps.count; n++)
        tg_memory_word(&m, m.maps.list[n].end - 4);
      tg_memory_word(&m, AT + TG_PAGE - 4);
    }
    close_core(&core, &m, &words);
  }
}

/* }================================================================== */

int main (void) {
  UNIT_RUN(words_come_from_pages);
  UNIT_RUN(what_is_fresh_is_read_twice);
  UNIT_RUN(what_nobody_asks_for_is_left);
  UNIT_RUN(all_pages_are_read_anew_by_one_call);
  UNIT_RUN(what_is_not_kept_is_read_a_page_at_a_time);
  UNIT_RUN(what_is_not_there_is_zeros_and_counted);
  UNIT_RUN(our_own_process_is_a_memory);
  UNIT_RUN(a_process_that_is_not_there_is_an_error);
  UNIT_RUN(a_thread_stands_still_and_goes_on);
  UNIT_RUN(a_thread_that_stops_late_is_let_go_of);
  UNIT_RUN(a_child_that_ends_meanwhile_is_its_parents);
  UNIT_RUN(only_releases_are_releases);
  UNIT_RUN(what_a_file_says_is_kept_until_it_changes);
  UNIT_RUN(a_core_has_its_segments_and_files);
  UNIT_RUN(what_is_no_core_is_refused);
  UNIT_RUN(a_changed_core_leads_nowhere);
  return UNIT_END();
}

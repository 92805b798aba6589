/* process.c - see process.h. */
#include "outside/process.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "text/fileio.h"

/* Calls of the system take so many at most (readv(2)); fewer fit the stack. */
#define VECTOR 256u

/*
** {==================================================================
** Memory
** ===================================================================
*/

/* The call tells how many bytes came, whole ranges but for the last one. */
static uint32_t whole (const tg_Range *list, uint32_t n, ssize_t got) {
  uint32_t i = 0;
  size_t left = (got > 0) ? (size_t)got : 0;
  while (i < n && left >= list[i].size)
    left -= list[i++].size;
  return i;
}

static uint32_t read_by (int task, const tg_Range *list, uint32_t n) {
  struct iovec from[VECTOR], to[VECTOR];
  uint32_t done = 0;
  while (done < n) {
    uint32_t some = (n - done < VECTOR) ? n - done : VECTOR;
    for (uint32_t i = 0; i < some; i++) {
      const tg_Range *r = &list[done + i];
      from[i] = (struct iovec){(void *)(uintptr_t)r->at, r->size};
      to[i] = (struct iovec){r->to, r->size};
    }
    ssize_t got = process_vm_readv(task, to, some, from, some, 0);
    uint32_t came = whole(list + done, some, got);
    done += came;
    if (came < some)
      break;
  }
  return done;
}

/* The thread by which it was read may have ended, and others live. */
static uint32_t read_ranges (tg_Memory *m, const tg_Range *list, uint32_t n) {
  uint32_t done = read_by(m->task, list, n);
  if (tg_likely(done == n) || errno != ESRCH)
    return done;
  int task = tg_process_task(m->pid);
  if (task != 0 && task != m->task) {
    m->task = task;
    return done + read_by(task, list + done, n - done);
  }
  errno = ESRCH;
  return done;
}

bool tg_process_open (tg_Memory *m, int pid) {
  int task = tg_process_task(pid);
  tg_memory_init(m, read_ranges);
  m->pid = pid;
  m->task = (task != 0) ? task : pid;
  return tg_maps_read(&m->maps, m->task);
}

void tg_process_renew (tg_Memory *m) {
  tg_Maps maps = {0};
  int task = tg_process_task(m->pid);
  m->task = (task != 0) ? task : m->task;
  if (!tg_maps_read(&maps, m->task)) {
    tg_maps_free(&maps);
    return;
  }
  tg_maps_free(&m->maps);
  m->maps = maps;
}

/* By one byte of what is there in any case. */
bool tg_process_readable (tg_Memory *m) {
  uint8_t byte;
  errno = ESRCH;
  for (uint32_t i = 0; i < m->maps.count; i++) {
    const tg_Map *map = &m->maps.list[i];
    if ((map->flags & TG_MAP_READ) == 0 || (map->flags & TG_MAP_DEVICE) != 0)
      continue;
    if (tg_memory_block(m, map->start, &byte, 1))
      return true;
    if (errno == EPERM || errno == EACCES || errno == ESRCH)
      return false;
  }
  return false;
}

/* Of a page's entry (pagemap of proc(5)) bits 63 and 62: in memory, swapped
   out. Files that are mapped there count as present. */
void tg_process_present (const tg_Memory *m, uint64_t at, uint32_t n,
                         bool *present) {
  uint64_t entries[TG_PRESENT_MOST];
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/pagemap", m->task);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  for (uint32_t i = 0; i < n; i++)
    present[i] = true;
  uint32_t some = (n < TG_PRESENT_MOST) ? n : TG_PRESENT_MOST;
  if (fd >= 0 && tg_fileio_read(fd, entries, some * sizeof *entries,
                                at / TG_PAGE * sizeof *entries)) {
    for (uint32_t i = 0; i < some; i++)
      present[i] = (entries[i] >> 62) != 0;
  }
  if (fd >= 0)
    close(fd);
}

/* }================================================================== */

/*
** {==================================================================
** What /proc tells
** ===================================================================
*/

bool tg_process_read (int pid, const char *name, char *to, size_t n) {
  char path[96];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  ssize_t got = read(fd, to, n - 1);
  int error = errno;
  close(fd);
  errno = error;
  to[got > 0 ? got : 0] = '\0';
  return got > 0;
}

/* What follows the name in proc_pid_stat(5), which may have any characters:
   field 3, the state, is first. */
static const char *stat_fields (int pid, const char *name, char *text,
                                size_t n) {
  if (!tg_process_read(pid, name, text, n))
    return NULL;
  const char *end = strrchr(text, ')');
  return (end != NULL && end[1] == ' ') ? end + 2 : NULL;
}

/* Field 'n' as the manual counts them, from 3 on. */
static uint64_t stat_field (int pid, int n) {
  char text[1024];
  const char *p = stat_fields(pid, "stat", text, sizeof text);
  for (int i = 3; p != NULL && i < n; i++) {
    p = strchr(p, ' ');
    p = (p != NULL) ? p + 1 : NULL;
  }
  return (p != NULL) ? strtoull(p, NULL, 10) : 0;
}

uint64_t tg_process_born (int pid) {
  return stat_field(pid, 22);
}

int tg_process_parent (int pid) {
  return (int)stat_field(pid, 4);
}

#define AUXILIARY 64u   /* words: kernels have some twenty pairs */

/* Pairs of a number and a value, up to the number 0 (proc_pid_auxv(5)). */
static uint64_t auxiliary (int task, uint64_t number) {
  uint64_t words[AUXILIARY] = {0};
  tg_process_read(task, "auxv", (char *)words, sizeof words);
  for (size_t i = 0; i + 1 < AUXILIARY && words[i] != AT_NULL; i += 2) {
    if (words[i] == number)
      return words[i + 1];
  }
  return 0;
}

tg_ProcessMark tg_process_mark (int task) {
  tg_ProcessMark mark = {{0}};
  uint64_t at = auxiliary(task, AT_RANDOM);
  struct iovec to = {&mark, sizeof mark};
  struct iovec from = {(void *)(uintptr_t)at, sizeof mark};
  if (at == 0 || process_vm_readv(task, &to, 1, &from, 1, 0) != sizeof mark)
    return (tg_ProcessMark){{0}};
  return mark;
}

uint64_t tg_process_cpu (int pid) {
  uint64_t ticks = stat_field(pid, 14) + stat_field(pid, 15);
  long rate = sysconf(_SC_CLK_TCK);
  return (rate > 0) ? ticks * (UINT64_C(1000000000) / (uint64_t)rate) : 0;
}

char tg_process_state (int pid, int tid) {
  char name[64], text[1024];
  snprintf(name, sizeof name, "task/%d/stat", tid);
  const char *p = stat_fields(pid, name, text, sizeof text);
  return (p != NULL) ? *p : '\0';
}

static bool is_living (int pid, int tid) {
  char state = tg_process_state(pid, tid);
  return state != '\0' && state != 'Z' && state != 'X';
}

int tg_process_task (int pid) {
  char path[64];
  struct dirent *e;
  int found = 0;
  if (is_living(pid, pid))
    return pid;
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *d = opendir(path);
  while (d != NULL && found == 0 && (e = readdir(d)) != NULL) {
    int tid = atoi(e->d_name);
    if (tid != 0 && is_living(pid, tid))
      found = tid;
  }
  if (d != NULL)
    closedir(d);
  return found;
}

bool tg_process_link (int task, const char *name, char *to, size_t n) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", task, name);
  ssize_t got = readlink(path, to, n - 1);
  to[got > 0 ? got : 0] = '\0';
  return got > 0;
}

/* }================================================================== */

/*
** {==================================================================
** Refusals
** ===================================================================
*/

/* The number after a word that begins a line; -1: not there. */
static long number_after (const char *text, const char *word) {
  const char *p = strstr(text, word);
  return (p != NULL) ? strtol(p + strlen(word), NULL, 10) : -1;
}

static long yama (void) {
  char text[16];
  tg_Buf b = {0};
  long scope = 0;
  if (tg_fileio_text("/proc/sys/kernel/yama/ptrace_scope", sizeof text, &b)
      && b.size > 0)
    scope = b.data[0] - '0';
  tg_buf_free(&b);
  return scope;
}

static void add_user (tg_Buf *words, long uid) {
  const struct passwd *user = getpwuid((uid_t)uid);
  if (user != NULL)
    tg_buf_addstr(words, user->pw_name);
  else
    tg_buf_addfmt(words, "user %ld", uid);
}

/* In the order in which the kernel asks (ptrace(2), __ptrace_may_access). */
static void add_reason (int pid, tg_Buf *words) {
  char status[4096] = "", path[64];
  struct stat st;
  tg_process_read(pid, "status", status, sizeof status);
  long uid = number_after(status, "\nUid:\t");
  snprintf(path, sizeof path, "/proc/%d", pid);
  if (geteuid() == 0)
    tg_buf_addstr(words, "root has not CAP_SYS_PTRACE here, or not in its "
                  "user namespace (a container needs --cap-add SYS_PTRACE)");
  else if (uid >= 0 && uid != (long)geteuid()) {
    tg_buf_addstr(words, "it is ");
    add_user(words, uid);
    tg_buf_addstr(words, "'s: that user may, root may, or who has "
                  "CAP_SYS_PTRACE");
  }
  else if (stat(path, &st) == 0 && st.st_uid != geteuid())
    tg_buf_addstr(words, "it is not dumpable (a setuid program, or prctl "
                  "PR_SET_DUMPABLE): root may");
  else if (yama() > 0)
    tg_buf_addfmt(words, "/proc/sys/kernel/yama/ptrace_scope is %ld: root "
                  "may, or anybody when it is 0", yama());
  else
    tg_buf_addstr(words, "who has CAP_SYS_PTRACE in its user namespace may");
}

void tg_process_refusal (int pid, int error, tg_Buf *words) {
  if (error == EPERM || error == EACCES) {
    tg_buf_addfmt(words, "process %d may not be looked at: ", pid);
    add_reason(pid, words);
  }
  else if (error == ENOENT || error == ESRCH)
    tg_buf_addfmt(words, "there is no process %d", pid);
  else
    tg_buf_addfmt(words, "process %d: %s", pid, strerror(error));
}

/* }================================================================== */

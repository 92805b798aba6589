/* ticks.c - see ticks.h. The records are as perf_event_open(2) has them. */
#include "spy/ticks.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "outside/halt.h"

#define RING_PAGES 4u           /* of records: a power of two */
#define LONG_RING_PAGES 64u     /* of those with much of a stack */
#define SECOND_NS UINT64_C(1000000000)

/* Which registers are asked for, as bits of the kernel's numbers (asm/
   perf_regs.h), which come in the order of these: and where in the words of
   NT_PRSTATUS each of them stands, for registers.h has that order. */
#if defined(__x86_64__)
/* AX BX CX DX SI DI BP SP IP, R8 to R15 */
static const uint8_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18, 19, 20,
                                  21, 22, 23};
static const uint8_t words[] = {10, 5, 11, 12, 13, 14, 4, 19, 16, 9, 8, 7, 6, 3,
                                2, 1, 0};
#elif defined(__aarch64__)
static const uint8_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                                  14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
                                  25, 26, 27, 28, 29, 30, 31, 32};
static const uint8_t words[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                                14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                26, 27, 28, 29, 30, 31, 32};
#else
static const uint8_t numbers[] = {0};
static const uint8_t words[] = {0};
#endif

#define NUMBERS (TG_REGISTER_WORDS > 0 ? sizeof numbers : 0)

static size_t page_size (void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes of records; one page before them is the kernel's. */
static size_t ring_size (const tg_SpyTicks *t) {
  return page_size() * (t->stack > TG_SPY_STACK ? LONG_RING_PAGES : RING_PAGES);
}

/*
** {==================================================================
** Threads
** ===================================================================
*/

static void describe (const tg_SpyTicks *t, struct perf_event_attr *a) {
  *a = (struct perf_event_attr){
    .size = sizeof *a, .type = PERF_TYPE_SOFTWARE,
    .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = t->period_ns,
    .sample_type = PERF_SAMPLE_READ,
    .exclude_kernel = 1, .exclude_hv = 1, .wakeup_events = 1, .task = 1
  };
  if (NUMBERS == 0)
    return;
  a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  a->sample_stack_user = t->stack;
  for (size_t i = 0; i < NUMBERS; i++)
    a->sample_regs_user |= UINT64_C(1) << numbers[i];
}

static bool open_thread (tg_SpyTicks *t, int tid) {
  struct perf_event_attr a;
  tg_SpyThread *s = &t->threads[t->count];
  describe(t, &a);
  *s = (tg_SpyThread){.tid = tid, .seen = true};
  s->fd = (int)syscall(SYS_perf_event_open, &a, tid, -1, -1,
                       PERF_FLAG_FD_CLOEXEC);
  if (s->fd < 0)
    return false;
  s->ring = mmap(NULL, page_size() + ring_size(t), PROT_READ | PROT_WRITE,
                 MAP_SHARED, s->fd, 0);
  if (s->ring == MAP_FAILED) {
    int error = errno;
    close(s->fd);
    errno = error;
    return false;
  }
  t->count++;
  return true;
}

static void close_thread (const tg_SpyTicks *t, tg_SpyThread *s) {
  munmap(s->ring, page_size() + ring_size(t));
  close(s->fd);
}

static bool is_known (tg_SpyTicks *t, int tid) {
  for (uint32_t i = 0; i < t->count; i++) {
    if (t->threads[i].tid == tid) {
      t->threads[i].seen = true;
      return true;
    }
  }
  return false;
}

/* Whose turn it was keeps it. */
static void drop_ended (tg_SpyTicks *t) {
  uint32_t kept = 0, before = 0;
  for (uint32_t i = 0; i < t->count; i++) {
    before += i < t->next && t->threads[i].seen;
    if (t->threads[i].seen)
      t->threads[kept++] = t->threads[i];
    else
      close_thread(t, &t->threads[i]);
  }
  t->count = kept;
  t->next = before;
}

static void mark_seen (tg_SpyTicks *t, const int *list, uint32_t n) {
  for (uint32_t i = 0; i < t->count; i++)
    t->threads[i].seen = false;
  for (uint32_t i = 0; i < n; i++)
    is_known(t, list[i]);
}

/* False: it is there, but has no event. */
static bool meet (tg_SpyTicks *t, int tid) {
  errno = ENOSPC;
  if (t->count < TG_SPY_THREADS && open_thread(t, tid))
    return true;
  return errno == ESRCH;        /* it has ended meanwhile */
}

#define LISTED 4096u    /* threads that are known of */

void tg_spyticks_rescan (tg_SpyTicks *t) {
  int list[LISTED];
  uint32_t n = tg_halt_threads(t->pid, list, LISTED), unseen = 0;
  mark_seen(t, list, n);
  drop_ended(t);
  for (uint32_t i = 0; i < n; i++) {
    if (!is_known(t, list[i]))
      unseen += !meet(t, list[i]);
  }
  if (unseen > t->unseen)
    t->unseen = unseen;
}

bool tg_spyticks_open (tg_SpyTicks *t, int pid, uint32_t hz, uint32_t stack) {
  *t = (tg_SpyTicks){.pid = pid, .period_ns = SECOND_NS / hz, .stack = stack,
                     .random = 2463534242u};
  tg_spyticks_rescan(t);
  return t->count > 0;
}

void tg_spyticks_close (tg_SpyTicks *t) {
  for (uint32_t i = 0; i < t->count; i++)
    close_thread(t, &t->threads[i]);
  t->count = 0;
}

/* }================================================================== */

/*
** {==================================================================
** Records
** ===================================================================
*/

/* A turn of all threads takes what has come by its begin: one whose stacks are
   looked at more slowly than it ticks does not keep the others waiting. */
static void begin_turn (tg_SpyTicks *t) {
  for (uint32_t i = 0; i < t->count; i++) {
    tg_SpyThread *s = &t->threads[i];
    const struct perf_event_mmap_page *head = s->ring;
    s->until = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE);
  }
  t->next = 0;
  t->ticked = false;
}

/* While a turn is not over nothing is waited for: the kernel tells of each tick
   but once (poll). */
bool tg_spyticks_wait (tg_SpyTicks *t, uint64_t ns) {
  struct pollfd list[TG_SPY_THREADS];
  struct timespec most = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
  if (t->next < t->count)
    return true;
  for (uint32_t i = 0; i < t->count; i++)
    list[i] = (struct pollfd){.fd = t->threads[i].over ? -1
                                                      : t->threads[i].fd,
                              .events = POLLIN};
  int n = ppoll(list, t->count, &most, NULL);
  for (uint32_t i = 0; n > 0 && i < t->count; i++) {
    if ((list[i].revents & (POLLHUP | POLLERR)) != 0)
      t->threads[i].over = true;
  }
  if (n >= 0)                   /* what is no tick wakes nobody */
    begin_turn(t);
  return n >= 0;
}

/* Bytes of the ring at a place that only grows. */
static void copy_out (const tg_SpyTicks *t, const tg_SpyThread *s, uint64_t at,
                      void *to, size_t size) {
  size_t room = ring_size(t), begin = (size_t)(at % room);
  const uint8_t *data = (const uint8_t *)s->ring + page_size();
  size_t first = (size < room - begin) ? size : room - begin;
  memcpy(to, data + begin, first);
  memcpy((uint8_t *)to + first, data, size - first);
}

/* What the event has counted comes first, then the words of registers: which
   kind, and each that was asked for; then the stack: its size, its bytes, and
   how many of these are good. */
static void take_registers (const uint8_t *p, const uint8_t *end,
                            tg_SpyTick *tick) {
  uint64_t bytes[TG_REGISTER_WORDS + 1] = {0}, abi, n, good;
  if (NUMBERS == 0 || (size_t)(end - p) < (1 + NUMBERS) * 8 + 8)
    return;
  memcpy(&abi, p, 8);
  if (abi != PERF_SAMPLE_REGS_ABI_64)
    return;
  for (size_t i = 0; i < NUMBERS; i++)
    memcpy(&bytes[words[i]], p + 8 + 8 * i, 8);
  tg_registers_take(&tick->registers, bytes, TG_REGISTER_WORDS * 8);
  p += (1 + NUMBERS) * 8;
  memcpy(&n, p, 8);
  if (n == 0 || n + 16 > (size_t)(end - p))
    return;
  memcpy(&good, p + 8 + n, 8);
  tick->stack = p + 8;
  tick->stack_size = (size_t)(good < n ? good : n);
}

static bool take_record (tg_SpyTicks *t, tg_SpyThread *s, size_t size,
                         tg_SpyTick *tick) {
  const uint8_t *p = t->last + sizeof(struct perf_event_header);
  uint64_t used;
  if (size < sizeof(struct perf_event_header) + 8)
    return false;
  memcpy(&used, p, 8);
  *tick = (tg_SpyTick){.tid = s->tid, .used_ns = used - s->used_ns};
  s->used_ns = used;
  take_registers(p + 8, t->last + size, tick);
  return true;
}

/* Some had no room (the header, an id, how many): the next one has their
   time. */
static void count_lost (tg_SpyTicks *t, const tg_SpyThread *s, uint64_t at,
                        size_t size) {
  uint64_t lost;
  if (size < sizeof(struct perf_event_header) + 2 * sizeof lost)
    return;
  copy_out(t, s, at + sizeof(struct perf_event_header) + 8, &lost,
           sizeof lost);
  t->lost += lost;
}

/* A process or a thread was made: the header, its process and that of whoever
   made it. */
static void note_fork (tg_SpyTicks *t, const tg_SpyThread *s, uint64_t at,
                       size_t size) {
  uint32_t pids[2];
  if (size < sizeof(struct perf_event_header) + sizeof pids)
    return;
  copy_out(t, s, at + sizeof(struct perf_event_header), pids, sizeof pids);
  if (pids[0] != pids[1] && t->nforked < TG_SPY_FORKED)
    t->forked[t->nforked++] = (int)pids[0];
}

/* The oldest record of this turn that is a tick. */
static bool next_record (tg_SpyTicks *t, tg_SpyThread *s, tg_SpyTick *tick) {
  struct perf_event_mmap_page *head = s->ring;
  uint64_t at = head->data_tail, end = s->until;
  struct perf_event_header h;
  bool found = false;
  while (!found && end - at >= sizeof h) {
    copy_out(t, s, at, &h, sizeof h);
    if (h.size < sizeof h || h.size > end - at)
      h.size = (uint16_t)(end - at);
    if (h.type == PERF_RECORD_SAMPLE && h.size <= sizeof t->last) {
      copy_out(t, s, at, t->last, h.size);
      found = take_record(t, s, h.size, tick);
    }
    else if (h.type == PERF_RECORD_LOST)
      count_lost(t, s, at, h.size);
    else if (h.type == PERF_RECORD_FORK)
      note_fork(t, s, at, h.size);
    at += h.size;
  }
  __atomic_store_n(&head->data_tail, at, __ATOMIC_RELEASE);
  return found;
}

/* From half a period to one and a half, so that the mean stays. */
static void vary_period (tg_SpyTicks *t, const tg_SpyThread *s) {
  t->random ^= t->random << 13;
  t->random ^= t->random >> 17;
  t->random ^= t->random << 5;
  uint64_t period = t->period_ns / 2 + t->period_ns * (t->random >> 16) / 65536;
  ioctl(s->fd, PERF_EVENT_IOC_PERIOD, &period);
}

bool tg_spyticks_next (tg_SpyTicks *t, tg_SpyTick *tick) {
  while (t->next < t->count) {
    tg_SpyThread *s = &t->threads[t->next];
    if (next_record(t, s, tick)) {
      t->ticked = true;
      return true;
    }
    if (t->ticked)
      vary_period(t, s);
    t->ticked = false;
    t->next++;
  }
  return false;
}

/* }================================================================== */

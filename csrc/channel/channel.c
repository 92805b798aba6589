/*
** channel.c - two lists, one for each direction, and who is woken by what. The
** threads are those of channel.h; all is under the channel's mutex but 'wanted'
** and 'news', which are looked at without it. The only mutex that is taken
** inside of it is a store's (tg_follower_leave). Without memory a command or a
** notice is NULL, which is for the caller to tell.
*/
#include "channel/channel.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/refs.h"

#define PATIENCE INT64_C(5000000)   /* ns of work between two signals */
#define MESSAGES_MOST ((size_t)64 << 20) /* bytes of messages that may wait */

/*
** {==================================================================
** Life
** ===================================================================
*/

/* The clock is that of the thread that runs the state: what it has worked
   tells the server whether it has had a chance to look (tg_channel_nudge).
   Without such a clock the time of day does: then it is nudged sometimes for
   nothing. */
tg_Channel *tg_channel_new (const void *main, int signal, uint64_t stall_ns,
                            const tg_Options *host, int bell) {
  tg_Channel *l = tg_calloc(1, sizeof *l);
  if (l == NULL || !tg_options_copy(&l->host, host)) {
    tg_free(l);
    return NULL;
  }
  atomic_init(&l->refs, 1);
  pthread_mutex_init(&l->mutex, NULL);
  tg_clock_condition(&l->moved);
  l->last_command = &l->commands;
  l->last_notice = &l->notices;
  l->stall_ns = stall_ns;
  l->signal = signal;
  l->bell = bell;
  l->state = (uint64_t)(uintptr_t)main;
  l->thread = (pid_t)syscall(SYS_gettid);
  if (pthread_getcpuclockid(pthread_self(), &l->cpu) != 0)
    l->cpu = CLOCK_MONOTONIC;
  return l;
}

tg_Channel *tg_channel_pin (tg_Channel *l) {
  tg_refs_pin(&l->refs);
  return l;
}

/* With the mutex, or by the last who has the channel. */
static void free_names (tg_Channel *l) {
  while (l->nnames > 0)
    tg_free(l->names[--l->nnames]);
  tg_free(l->names);
  l->names = NULL;
}

/* Nobody else has it: what is left in its lists is freed without the mutex. */
void tg_channel_unpin (tg_Channel *l) {
  if (l == NULL || !tg_refs_unpin(&l->refs))
    return;
  for (tg_Command *c = l->commands, *next; c != NULL; c = next) {
    next = c->next;
    tg_command_free(c);
  }
  for (tg_Notice *n = l->notices, *next; n != NULL; n = next) {
    next = n->next;
    tg_notice_free(n);
  }
  free_names(l);
  tg_messages_free(&l->inbox);
  tg_messages_free(&l->outbox);
  tg_options_free(&l->host);
  pthread_cond_destroy(&l->moved);
  pthread_mutex_destroy(&l->mutex);
  tg_free(l);
}

/* Taken after the server's mutex, which alone knows all channels. */
void tg_channel_fork (tg_Channel *l, tg_AtFork side) {
  tg_atfork_mutex(&l->mutex, side);
}

/* }================================================================== */

/*
** {==================================================================
** The server's thread
** ===================================================================
*/

/* 0, if the thread is gone. */
static int64_t worked (const tg_Channel *l) {
  struct timespec t;
  if (clock_gettime(l->cpu, &t) != 0)
    return 0;
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* By its number: a thread that has ended is no harm. With the mutex: the
   number of the thread is taken back under it (tg_channel_part), and the
   kernel may give it to another one after that. tgkill, for pthread_kill of a
   thread that has ended is undefined. */
static void kick (tg_Channel *l) {
  l->kick.worked = worked(l);
  l->kick.roused = l->thread != 0 && l->inbox.first != NULL
                   && tg_asleep_look(&l->asleep, l->thread);
  if (l->thread != 0)
    syscall(SYS_tgkill, getpid(), l->thread, l->signal);
}

/* Something is there, or all has been taken. With the mutex. */
static void note_wanted (tg_Channel *l) {
  atomic_store(&l->messages, l->inbox.first != NULL);
  atomic_store(&l->ends, l->inbox.ends > 0 || l->bell < 0);
  atomic_store(&l->wanted, l->commands != NULL || l->inbox.first != NULL);
}

/* Where the last command is linked if it is an ATTACH; else NULL. The list is
   as long as what a client asks for between two looks of the program, so it is
   gone through. */
static tg_Command **last_attach (tg_Channel *l) {
  tg_Command **p = &l->commands;
  while (*p != NULL && (*p)->next != NULL)
    p = &(*p)->next;
  return (*p != NULL && (*p)->kind == TG_COMMAND_ATTACH) ? p : NULL;
}

/* 'wanted' is set before the signal is sent, since its handler looks at
   nothing else. */
static void append (tg_Channel *l, tg_Command *c) {
  tg_assert(*l->last_command == NULL);
  c->next = NULL;
  *l->last_command = c;
  l->last_command = &c->next;
  l->started = l->started || c->kind == TG_COMMAND_START
               || c->kind == TG_COMMAND_KEEP;
  l->urgent = l->urgent || !c->patient;
  atomic_store(&l->wanted, true);
  if (!c->patient)
    kick(l);
  pthread_cond_broadcast(&l->moved);
}

/* The last command comes to nothing: 'p' is where it is linked. */
static void take_back (tg_Channel *l, tg_Command **p) {
  tg_assert((*p)->next == NULL && l->last_command == &(*p)->next);
  tg_command_free(*p);
  *p = NULL;
  l->last_command = p;
  note_wanted(l);
}

/* Clients that come and go without a wish (a list of targets that is looked at
   again and again) would else fill the list of a program that sleeps for
   hours. */
void tg_channel_post (tg_Channel *l, tg_Command *c) {
  pthread_mutex_lock(&l->mutex);
  bool vain = c->kind == TG_COMMAND_LEAVE && c->patient;
  tg_Command **attach = vain ? last_attach(l) : NULL;
  if (attach != NULL) {
    take_back(l, attach);
    tg_command_free(c);
  }
  else
    append(l, c);
  pthread_mutex_unlock(&l->mutex);
}

/* What is kept for a program that sleeps for hours is bounded; the debugger is
   told by losing its connection. */
bool tg_channel_deliver (tg_Channel *l, tg_Message *x) {
  pthread_mutex_lock(&l->mutex);
  bool fits = l->inbox.bytes + x->size <= MESSAGES_MOST;
  if (fits) {
    tg_messages_put(&l->inbox, x);
    l->heard = false;
    l->urgent = true;
    note_wanted(l);
    kick(l);
    pthread_cond_broadcast(&l->moved);
  }
  pthread_mutex_unlock(&l->mutex);
  if (!fits)
    tg_message_free(x);
  return fits;
}

bool tg_channel_heard (tg_Channel *l) {
  pthread_mutex_lock(&l->mutex);
  bool heard = l->heard || l->evaluated.runs;
  pthread_mutex_unlock(&l->mutex);
  return heard;
}

tg_Message *tg_channel_collect (tg_Channel *l) {
  pthread_mutex_lock(&l->mutex);
  tg_Message *x = tg_messages_take(&l->outbox);
  pthread_mutex_unlock(&l->mutex);
  return x;
}

/* What has ended takes its message at once. */
bool tg_channel_lingers (tg_Channel *l, char within[TG_WITHIN]) {
  pthread_mutex_lock(&l->mutex);
  bool lingers = l->evaluated.runs && l->inbox.ends > 0;
  memcpy(within, l->evaluated.within, TG_WITHIN);
  pthread_mutex_unlock(&l->mutex);
  return lingers;
}

/* Messages can be answered where the thread waits, unless it was asked there
   already: what it has postponed is for when it runs. With the mutex. */
static bool may_rouse (tg_Channel *l) {
  return l->inbox.first != NULL && l->thread != 0 && !l->kick.roused
         && tg_asleep_look(&l->asleep, l->thread);
}

/* The thread has run since the last signal, so that came while it could not be
   served: in a coroutine that the stand-ins do not know. Not for each look of
   the server: a signal costs the program a system call that is begun anew. */
bool tg_channel_nudge (tg_Channel *l) {
  if (!atomic_load(&l->wanted))
    return false;
  pthread_mutex_lock(&l->mutex);
  bool waits = l->urgent;
  if (waits && (worked(l) - l->kick.worked >= PATIENCE || may_rouse(l)))
    kick(l);
  pthread_mutex_unlock(&l->mutex);
  return waits;
}

/* Whoever takes is the server's thread alone, so the notice is his without the
   mutex. */
tg_Notice *tg_channel_next (tg_Channel *l) {
  pthread_mutex_lock(&l->mutex);
  tg_Notice *n = l->notices;
  if (n != NULL) {
    l->notices = n->next;
    if (n->next == NULL)
      l->last_notice = &l->notices;
  }
  pthread_mutex_unlock(&l->mutex);
  return n;
}

/* Under the mutex, as tg_channel_notify looks there whether it has been left:
   either the notice is in the list by now, or it will be refused. */
bool tg_channel_leave (tg_Channel *l, tg_Follower *follower) {
  bool needed = false;
  pthread_mutex_lock(&l->mutex);
  for (const tg_Notice *n = l->notices; n != NULL; n = n->next)
    needed = needed || n->follower == follower;
  if (!needed)
    tg_follower_leave(follower);
  pthread_mutex_unlock(&l->mutex);
  return !needed;
}

uint64_t tg_channel_state (tg_Channel *l) {
  pthread_mutex_lock(&l->mutex);
  uint64_t state = (l->thread != 0) ? l->state : 0;
  pthread_mutex_unlock(&l->mutex);
  return state;
}

/* What is sent from here on is never read, and goes with the channel. */
void tg_channel_hang_up (tg_Channel *l) {
  pthread_mutex_lock(&l->mutex);
  l->bell = -1;
  atomic_store(&l->ends, true);
  pthread_cond_broadcast(&l->moved);
  pthread_mutex_unlock(&l->mutex);
}

/* }================================================================== */

/*
** {==================================================================
** The traced thread
** ===================================================================
*/

/* Looked at without the mutex first: 'wanted' may be old, and then the signal
   or the next look finds the command. */
tg_Command *tg_channel_take (tg_Channel *l) {
  if (!atomic_load_explicit(&l->wanted, memory_order_relaxed))
    return NULL;
  pthread_mutex_lock(&l->mutex);
  tg_Command *c = l->commands;
  if (c != NULL)
    l->commands = c->next;
  if (l->commands == NULL) {
    l->last_command = &l->commands;
    l->urgent = l->inbox.first != NULL;
    note_wanted(l);
  }
  pthread_mutex_unlock(&l->mutex);
  return c;
}

/* Who waits is a paused program: until the debugger says something, or until
   there is no server any more (tg_channel_hang_up, a fork). */
tg_Message *tg_channel_open (tg_Channel *l, bool wait) {
  pthread_mutex_lock(&l->mutex);
  while (wait && l->inbox.first == NULL && l->bell >= 0)
    pthread_cond_wait(&l->moved, &l->mutex);
  tg_Message *x = tg_messages_take(&l->inbox);
  l->heard = true;
  if (l->commands == NULL && l->inbox.first == NULL)
    l->urgent = false;
  note_wanted(l);
  pthread_mutex_unlock(&l->mutex);
  return x;
}

void tg_channel_evaluate (tg_Channel *l, bool begins) {
  pthread_mutex_lock(&l->mutex);
  l->evaluated.runs = begins;
  *l->evaluated.within = '\0';
  pthread_mutex_unlock(&l->mutex);
}

void tg_channel_within (tg_Channel *l, const char *name) {
  pthread_mutex_lock(&l->mutex);
  /* the last byte stays 0 */
  strncpy(l->evaluated.within, name, TG_WITHIN - 1);
  pthread_mutex_unlock(&l->mutex);
}

/* Asked again and again while the code runs: so without the mutex first. */
bool tg_channel_ends (tg_Channel *l, uint64_t client) {
  if (!atomic_load_explicit(&l->ends, memory_order_relaxed))
    return false;
  pthread_mutex_lock(&l->mutex);
  bool ends = l->bell < 0;
  for (const tg_Message *x = l->inbox.first; x != NULL && !ends; x = x->next)
    ends = x->ends && (x->kind != TG_MESSAGE_GONE || client == 0
                       || x->client == client);
  pthread_mutex_unlock(&l->mutex);
  return ends;
}

void tg_channel_postpone (tg_Channel *l, tg_Message *x) {
  pthread_mutex_lock(&l->mutex);
  tg_messages_return(&l->inbox, x);
  l->urgent = true;
  note_wanted(l);
  pthread_mutex_unlock(&l->mutex);
}

/* Once for all notices that the server has not looked at yet ('news'): each
   write to the bell costs the traced thread a system call. errno is the
   program's. */
static void ring (tg_Channel *l) {
  uint64_t one = 1;
  int error = errno;
  if (l->bell >= 0 && !atomic_exchange(&l->news, true)
      && write(l->bell, &one, sizeof one) < 0)
    errno = error;        /* it is ringing as hard as it can */
}

/* Where the bell has gone the notice is taken nevertheless: it is freed with
   the channel. */
bool tg_channel_notify (tg_Channel *l, tg_Notice *n) {
  pthread_mutex_lock(&l->mutex);
  bool left = n->follower != NULL && atomic_load(&n->follower->gone);
  if (!left) {
    tg_assert(*l->last_notice == NULL);
    n->next = NULL;
    *l->last_notice = n;
    l->last_notice = &n->next;
    ring(l);
  }
  pthread_mutex_unlock(&l->mutex);
  return !left;
}

/* The outbox is unbounded here: the server takes what there is at once, and it
   is there that a debugger which does not read is sent away. */
void tg_channel_reply (tg_Channel *l, tg_Message *x) {
  (void)tg_channel_offer(l, x, SIZE_MAX);
}

bool tg_channel_offer (tg_Channel *l, tg_Message *x, size_t most) {
  pthread_mutex_lock(&l->mutex);
  bool fits = l->outbox.bytes <= most;
  if (fits) {
    tg_messages_put(&l->outbox, x);
    ring(l);
  }
  pthread_mutex_unlock(&l->mutex);
  if (!fits)
    tg_message_free(x);
  return fits;
}

/* Room for one more name, so that NULL means no memory, not no names. */
static char **copy_names (const char *const *names, size_t n) {
  char **list = tg_calloc(n + 1, sizeof *list);
  for (size_t i = 0; list != NULL && i < n; i++) {
    list[i] = tg_strcopy(names[i]);
    if (list[i] == NULL) {
      while (i > 0)
        tg_free(list[--i]);
      tg_free(list);
      return NULL;
    }
  }
  return list;
}

/* The copy is made before the mutex is taken. */
void tg_channel_publish (tg_Channel *l, const char *const *names, size_t n) {
  char **list = copy_names(names, n);
  if (list == NULL)
    return;
  pthread_mutex_lock(&l->mutex);
  free_names(l);
  l->names = list;
  l->nnames = n;
  pthread_mutex_unlock(&l->mutex);
}

/* Also when the thread ends: its number may be another one's soon. */
void tg_channel_part (tg_Channel *l) {
  pthread_mutex_lock(&l->mutex);
  l->thread = 0;
  pthread_mutex_unlock(&l->mutex);
}

/* Woken by everything that the server does: most of it is not what is waited
   for. */
bool tg_channel_await (tg_Channel *l, bool start, uint64_t ns) {
  struct timespec until = tg_clock_after(ns);
  bool there;
  pthread_mutex_lock(&l->mutex);
  while (there = l->bell < 0 || (start && l->started),
         !there
         && pthread_cond_timedwait(&l->moved, &l->mutex, &until) == 0)
    continue;
  pthread_mutex_unlock(&l->mutex);
  return there;
}

bool tg_channel_hear (tg_Channel *l, uint64_t ns) {
  struct timespec until = tg_clock_after(ns);
  pthread_mutex_lock(&l->mutex);
  while (l->bell >= 0 && l->inbox.first == NULL
         && pthread_cond_timedwait(&l->moved, &l->mutex, &until) == 0)
    continue;
  bool there = l->bell >= 0;
  pthread_mutex_unlock(&l->mutex);
  return there;
}

/* }================================================================== */

/*
** serverthread.c - the one server of the process: its thread, and what traced
** threads share with it. Each function says in serverthread.h which of the two
** may call it. What cannot be started is an errno; what the server's Lua fails
** at becomes the answer to those who wait, and all who listen are told that
** nobody speaks for them.
*/
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "server/serverthread.h"
#include "base/alloc.h"
#include "base/atfork.h"
#include "base/clock.h"
#include "base/loaded.h"
#include "server/inherited.h"
#include "server/lifeline.h"
#include "server/serverstate.h"
#include "signal/signals.h"
#include "text/fdwriter.h"

#define SECOND UINT64_C(1000000000)
#define ANSWER_NS (10 * SECOND)   /* for opening a socket */

/* A state that listens. */
typedef struct Entry {
  struct Entry *next;
  tg_Channel *channel;            /* pins */
  tg_Telling closing;             /* that it listens no more */
} Entry;

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool ready;                     /* 'changed' is, in this process */
  pthread_t thread;               /* unless there is none */
  tg_ServerLife life;             /* of the thread */
  uint64_t threads;               /* started so far: its number */
  tg_Telling stop;                /* that it is to end */
  int bell;
  tg_Order *orders;               /* borrows; not answered */
  Entry *entries;                 /* owns */
  uint64_t endpoints, orders_placed; /* so far */
  unsigned child;                 /* forks between us and the first process */
  char *path, *cpath;             /* owns: package.path and package.cpath */
  char trouble[256];              /* why it ended, if it should not have */
} server = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* With the mutex: whether the thread may still do something. */
static bool lives (void) {
  return server.life == TG_SERVER_RUNNING
         || server.life == TG_SERVER_ABANDONED;
}

/* With the mutex. NULL: that state listens no more. */
static Entry *find_entry (uint64_t endpoint) {
  Entry *e = server.entries;
  while (e != NULL && e->channel->endpoint != endpoint)
    e = e->next;
  return e;
}

/* An eventfd takes any number of rings and counts them: to be full would take
   2^64 - 2. */
static void ring (void) {
  uint64_t one = 1;
  int error = errno;
  if (write(server.bell, &one, sizeof one) < 0)
    errno = error;                /* it rings already */
}

/* Waits, with the mutex, for something to change; false when time is up. A
   wake-up may be anybody's: who waits looks again at what he waits for. */
static bool wait_until (const struct timespec *until) {
  return pthread_cond_timedwait(&server.changed, &server.mutex, until)
         != ETIMEDOUT;
}

/*
** {==================================================================
** The server's thread
** ===================================================================
*/

/* Nobody speaks for those who listen any more. Nobody may wait for one that is
   gone: channels are hung up and all waiters woken. */
static void report_end (const char *trouble) {
  pthread_mutex_lock(&server.mutex);
  snprintf(server.trouble, sizeof server.trouble, "%s", trouble);
  for (const Entry *e = server.entries; e != NULL; e = e->next)
    tg_channel_hang_up(e->channel);
  tg_assert(lives());
  server.life = (server.life == TG_SERVER_RUNNING) ? TG_SERVER_ENDED
                                                   : TG_SERVER_GONE;
  tg_inherited_forget();
  pthread_cond_broadcast(&server.changed);
  pthread_mutex_unlock(&server.mutex);
}

static void *run (void *ud) {
  char trouble[sizeof server.trouble];
  (void)ud;
  tg_serverstate_run(server.path, server.cpath, trouble, sizeof trouble);
  report_end(trouble);
  return NULL;
}

/* }================================================================== */

/*
** {==================================================================
** What the server's Lua asks for (serverhost.c)
** ===================================================================
*/

/* It is to be told, unless it has been. */
static void note (tg_Telling *t) {
  if (*t == TG_TELLING_NOTHING)
    *t = TG_TELLING_DUE;
}

/* Whether it is told now: who asks tells it. */
static bool tell (tg_Telling *t) {
  if (*t != TG_TELLING_DUE)
    return false;
  *t = TG_TELLING_TOLD;
  return true;
}

/* That of a state: it has news, or is closing. */
static bool entry_event (tg_ServerEvent *event) {
  for (Entry *e = server.entries; e != NULL; e = e->next) {
    event->endpoint = e->channel->endpoint;
    event->kind = "news";
    if (atomic_exchange(&e->channel->news, false))
      return true;
    event->kind = "closed";
    if (tell(&e->closing))
      return true;
  }
  return false;
}

static bool order_event (tg_ServerEvent *event) {
  tg_Order *o = server.orders;
  while (o != NULL && o->state != TG_ORDER_PLACED)
    o = o->next;
  event->order = o;
  if (o != NULL)
    o->state = TG_ORDER_TAKEN;
  return o != NULL;
}

/* Orders first, since somebody waits for each; "stop" last. */
static bool next_event (tg_ServerEvent *event) {
  if (order_event(event) || entry_event(event))
    return true;
  event->kind = "stop";
  return tell(&server.stop);
}

/* The bell is read before the events are looked at: what comes later rings
   anew, so nothing is missed; what came before is found, and a ring for it is
   one too many. */
bool tg_serverthread_take (tg_ServerEvent *event) {
  uint64_t rung;
  pthread_mutex_lock(&server.mutex);
  bool there = read(server.bell, &rung, sizeof rung) >= 0;
  there = next_event(event);
  pthread_mutex_unlock(&server.mutex);
  return there;
}

/* Who ordered may have given up: then there is nobody to answer. */
void tg_serverthread_answer (uint64_t id, bool good, const char *first,
                             const char *second) {
  pthread_mutex_lock(&server.mutex);
  tg_Order *o = server.orders;
  while (o != NULL && o->id != id)
    o = o->next;
  if (o != NULL && o->state == TG_ORDER_TAKEN) {
    o->state = good ? TG_ORDER_GRANTED : TG_ORDER_REFUSED;
    o->text[0] = tg_strcopy(first);
    o->text[1] = tg_strcopy(second);
    pthread_cond_broadcast(&server.changed);
  }
  pthread_mutex_unlock(&server.mutex);
}

/* Pinned with the mutex held: the state may stop listening at once. */
tg_Channel *tg_serverthread_channel (uint64_t endpoint) {
  pthread_mutex_lock(&server.mutex);
  const Entry *e = find_entry(endpoint);
  tg_Channel *channel = (e != NULL) ? tg_channel_pin(e->channel) : NULL;
  pthread_mutex_unlock(&server.mutex);
  return channel;
}

void tg_serverthread_keep (int fd) {
  pthread_mutex_lock(&server.mutex);
  tg_inherited_add(fd);
  pthread_mutex_unlock(&server.mutex);
}

void tg_serverthread_drop (int fd) {
  pthread_mutex_lock(&server.mutex);
  tg_inherited_remove(fd);
  pthread_mutex_unlock(&server.mutex);
}

/* }================================================================== */

/*
** {==================================================================
** The traced thread: starting and ending the other one
** ===================================================================
*/

static void free_paths (void) {
  tg_free(server.path);
  tg_free(server.cpath);
  server.path = server.cpath = NULL;
}

/* With the mutex. The condition is made anew in a forked child: what waited on
   the parent's is not there. Signals are blocked in the thread
   (tg_signals_thread): the program's are for the program. */
static bool start_thread (const char *path, const char *cpath) {
  tg_assert(server.life == TG_SERVER_NONE && server.path == NULL);
  if (!server.ready)
    tg_clock_condition(&server.changed);
  server.ready = true;
  server.path = tg_strcopy(path);
  server.cpath = tg_strcopy(cpath);
  server.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  server.stop = TG_TELLING_NOTHING;
  server.trouble[0] = '\0';
  bool ok = server.path != NULL && server.cpath != NULL && server.bell >= 0
            && tg_signals_thread(&server.thread, run, NULL);
  if (ok) {
    server.life = TG_SERVER_RUNNING;
    server.threads++;
  }
  else {
    int error = errno;
    if (server.bell >= 0)
      close(server.bell);
    free_paths();
    errno = error;
  }
  return ok;
}

/* With the mutex: the thread has nothing to do any more. One that does not end
   in time, in a finalizer or a library that hangs, is left behind, once: the
   program must not hang with it. Several may wait here, and whoever comes first
   joins it: there may be a new thread when the next one looks. The mutex is
   kept for the join, since a thread that has ended has no more use for it
   (report_end). */
static void end_thread (void) {
  struct timespec until = tg_clock_after(TG_SERVER_PARTING_NS + ANSWER_NS);
  uint64_t number = server.threads;
  tg_assert(server.life != TG_SERVER_NONE);
  note(&server.stop);
  ring();
  while (server.life == TG_SERVER_RUNNING && server.threads == number
         && wait_until(&until))
    continue;
  if (server.life == TG_SERVER_NONE || server.threads != number)
    return;
  if (lives()) {
    if (server.life == TG_SERVER_RUNNING)
      pthread_detach(server.thread);
    server.life = TG_SERVER_ABANDONED;
    tg_loaded_keep();
    return;
  }
  if (server.life == TG_SERVER_ENDED)
    pthread_join(server.thread, NULL);
  close(server.bell);
  free_paths();
  server.life = TG_SERVER_NONE;
}

/* With the mutex: whether there is a thread that takes no orders any more. One
   that is left behind may yet. */
static bool is_ending (void) {
  return (server.life == TG_SERVER_RUNNING
          && server.stop != TG_TELLING_NOTHING)
         || server.life == TG_SERVER_ENDED || server.life == TG_SERVER_GONE;
}

/* A thread that ends, or has ended by itself, is joined, and a new one
   started. */
bool tg_serverthread_begin (const char *path, const char *cpath) {
  tg_fdwriter_occupy();   /* the loop does not close a standard descriptor */
  pthread_mutex_lock(&server.mutex);
  while (is_ending())
    end_thread();
  bool ok = lives() || start_thread(path, cpath);
  if (ok)
    tg_lifeline_begin();
  pthread_mutex_unlock(&server.mutex);
  return ok;
}

void tg_serverthread_end_idle (void) {
  pthread_mutex_lock(&server.mutex);
  if (server.entries == NULL && server.life != TG_SERVER_NONE)
    end_thread();
  pthread_mutex_unlock(&server.mutex);
}

/* Without the mutex: set before the thread runs, and closed when it has
   ended. */
int tg_serverthread_bell (void) {
  return server.bell;
}

unsigned tg_serverthread_child (void) {
  return server.child;
}

/* The server has no pointer to it any more. */
static void unlink_order (const tg_Order *o) {
  tg_Order **p = &server.orders;
  while (*p != o) {
    tg_assert(*p != NULL);
    p = &(*p)->next;
  }
  *p = o->next;
}

static bool is_waiting (const tg_Order *o) {
  return o->state == TG_ORDER_PLACED || o->state == TG_ORDER_TAKEN;
}

/* In a list on the waiting threads' own stacks, oldest first. A server that
   does not answer is told of as such; the order leaves the list before its
   memory goes. */
void tg_serverthread_order (tg_Order *o) {
  struct timespec until = tg_clock_after(ANSWER_NS);
  tg_Order **p = &server.orders;
  pthread_mutex_lock(&server.mutex);
  tg_assert(o->state == TG_ORDER_PLACED);
  o->id = ++server.orders_placed;
  while (*p != NULL)
    p = &(*p)->next;
  *p = o;
  if (lives())
    ring();
  while (is_waiting(o) && lives() && wait_until(&until))
    continue;
  unlink_order(o);
  if (is_waiting(o)) {
    o->state = TG_ORDER_REFUSED;
    o->text[0] =
        tg_strcopy(*server.trouble ? server.trouble : "the server is silent");
    o->text[1] = tg_strcopy("noServer");
  }
  pthread_mutex_unlock(&server.mutex);
}

/* With the mutex: whether a state may rely on the thread that was begun for it.
   One that has ended by itself, or hangs, will be told of as such. */
static bool is_reliable (void) {
  return server.life == TG_SERVER_ABANDONED
         || (server.stop == TG_TELLING_NOTHING
             && (server.life == TG_SERVER_RUNNING
                 || server.life == TG_SERVER_ENDED));
}

/* Numbers are never used again: a late notice of a state that has gone is
   nobody else's. Who is in the list keeps the thread: it is the one whose bell
   the channel has from here on, and nobody else has the channel yet. */
bool tg_serverthread_enter (tg_Channel *channel) {
  Entry *e = tg_calloc(1, sizeof *e);
  if (e == NULL) {
    errno = ENOMEM;
    return false;
  }
  pthread_mutex_lock(&server.mutex);
  bool there = is_reliable();
  if (there) {
    e->channel = tg_channel_pin(channel);
    channel->endpoint = ++server.endpoints;
    channel->bell = lives() ? server.bell : -1;
    e->next = server.entries;
    server.entries = e;
  }
  pthread_mutex_unlock(&server.mutex);
  if (!there) {
    tg_free(e);
    errno = ECANCELED;
  }
  return there;
}

static void unlink_entry (Entry *e) {
  Entry **p = &server.entries;
  while (*p != e) {
    tg_assert(*p != NULL);
    p = &(*p)->next;
  }
  *p = e->next;
  tg_channel_unpin(e->channel);
  tg_free(e);
}

/* Without the mutex while it waits: the server needs that to see what is
   closing. The entry cannot go meanwhile, as only its own thread unlinks
   it. */
void tg_serverthread_leave (uint64_t endpoint, bool meant) {
  pthread_mutex_lock(&server.mutex);
  Entry *e = find_entry(endpoint);
  if (e != NULL) {
    bool served = lives();
    note(&e->closing);
    if (served)
      ring();
    pthread_mutex_unlock(&server.mutex);
    if (served)
      tg_channel_await(e->channel, false, TG_SERVER_PARTING_NS);
    pthread_mutex_lock(&server.mutex);
    unlink_entry(e);
  }
  if (meant && server.entries == NULL)
    tg_lifeline_cut();
  pthread_mutex_unlock(&server.mutex);
  tg_serverthread_end_idle();
}

/* }================================================================== */

/*
** {==================================================================
** Fork and exit
** ===================================================================
*/

/* The child has the descriptors but nobody who works with them: closed, so
   that clients see the end of the parent. What belongs to the lost thread
   stays where it is. Not freed: the thread may have been in the middle of
   changing it, and the child loses a few hundred bytes. */
static void become_child (void) {
  tg_inherited_close();
  if (server.life != TG_SERVER_NONE)
    close(server.bell);
  server.life = TG_SERVER_NONE;
  server.ready = false;
  server.orders = NULL;
  server.entries = NULL;
  server.path = server.cpath = NULL;
  server.child++;
  tg_lifeline_forked();
}

/* Channels after the server: the order that all keep (channel.h). */
static void at_fork (tg_AtFork side) {
  if (side == TG_ATFORK_BEFORE)
    pthread_mutex_lock(&server.mutex);
  for (const Entry *e = server.entries; e != NULL; e = e->next)
    tg_channel_fork(e->channel, side);
  if (side == TG_ATFORK_BEFORE)
    return;
  if (side == TG_ATFORK_CHILD)
    become_child();
  pthread_mutex_unlock(&server.mutex);
}

/* Not joined: a thread that hangs would keep the process from exiting. Then
   children hear of the end from the kernel, which closes its sockets, too. */
static void at_exit (void) {
  struct timespec until = tg_clock_after(2 * TG_SERVER_PARTING_NS);
  pthread_mutex_lock(&server.mutex);
  if (server.life != TG_SERVER_NONE) {
    for (Entry *e = server.entries; e != NULL; e = e->next)
      note(&e->closing);
    note(&server.stop);
    ring();
    while (lives() && wait_until(&until))
      continue;
  }
  if (!lives())
    tg_lifeline_end();
  pthread_mutex_unlock(&server.mutex);
}

/* }================================================================== */

void tg_serverthread_setup (void) {
  tg_atfork_register(TG_ATFORK_SERVER, at_fork, at_exit);
}

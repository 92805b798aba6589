/*
** test_channel.c - a channel and its two ends, each on a thread of its own:
** what is sent comes, in order, and wakes who is to take it. Run under the
** thread sanitizer too.
*/
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture.h"
#include "channel/channel.h"
#include "unit.h"

#define MS UINT64_C(1000000)
#define MANY 20000u

static volatile sig_atomic_t signals;

static void on_signal (int signal) {
  (void)signal;
  signals++;
}

/* A channel of this thread's, with a bell of its own. */
static tg_Channel *channel_new (void) {
  tg_Options host;
  struct sigaction ours = {.sa_handler = on_signal};
  sigemptyset(&ours.sa_mask);
  sigaction(SIGUSR2, &ours, NULL);
  signals = 0;
  tg_options_init(&host);
  int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return tg_channel_new(NULL, SIGUSR2, 0, &host, bell);
}

static void channel_free (tg_Channel *l) {
  if (l->bell >= 0)
    close(l->bell);
  tg_channel_unpin(l);
}

static tg_Command *command (tg_CommandKind kind, uint64_t id, bool patient) {
  tg_Command *c = tg_command_new(kind, id);
  c->patient = patient;
  return c;
}

/* Takes the next command; its kind and number, or "none". */
static void take (tg_Channel *l, tg_Buf *text) {
  static const char *const names[] = {"attach", "leave", "start", "keep",
                                      "stop"};
  tg_Command *c = tg_channel_take(l);
  if (c == NULL)
    tg_buf_addstr(text, "none");
  else
    tg_buf_addfmt(text, "%s %d, ", names[c->kind], (int)c->id);
  tg_command_free(c);
}

/* ---- commands ---- */

static void patient_ones_disturb_nobody (void) {
  tg_Channel *l = channel_new();
  tg_channel_post(l, command(TG_COMMAND_ATTACH, 1, true));
  UNIT_CHECK(signals == 0 && atomic_load(&l->wanted));
  UNIT_CHECK(!tg_channel_nudge(l));
  tg_channel_post(l, command(TG_COMMAND_START, 2, false));
  UNIT_CHECK(signals == 1 && tg_channel_nudge(l));
  channel_free(l);
}

static void client_that_comes_and_goes_leaves_nothing (void) {
  tg_Channel *l = channel_new();
  tg_Buf text = {0};
  tg_channel_post(l, command(TG_COMMAND_STOP, 1, true));
  tg_channel_post(l, command(TG_COMMAND_ATTACH, 2, true));
  tg_channel_post(l, command(TG_COMMAND_LEAVE, 2, true));
  tg_channel_post(l, command(TG_COMMAND_ATTACH, 3, true));
  for (int i = 0; i < 3; i++)
    take(l, &text);
  UNIT_TEXT(&text, "stop 1, attach 3, none");
  UNIT_CHECK(!atomic_load(&l->wanted));
  tg_channel_post(l, command(TG_COMMAND_ATTACH, 4, true));
  tg_channel_post(l, command(TG_COMMAND_LEAVE, 4, true));
  UNIT_CHECK(!atomic_load(&l->wanted));
  tg_channel_post(l, command(TG_COMMAND_ATTACH, 5, true));
  tg_channel_post(l, command(TG_COMMAND_START, 6, false));
  tg_channel_post(l, command(TG_COMMAND_LEAVE, 5, true));
  for (int i = 0; i < 4; i++)
    take(l, &text);
  UNIT_TEXT(&text, "attach 5, start 6, leave 5, none");
  tg_buf_free(&text);
  channel_free(l);
}

/* A thread that sleeps is not signalled again, one that has worked is. */
static void nudges_who_has_worked (void) {
  tg_Channel *l = channel_new();
  tg_channel_post(l, command(TG_COMMAND_STOP, 1, false));
  UNIT_CHECK(tg_channel_nudge(l) && signals == 1);
  struct timespec t;
  int64_t now, before = 0;
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    before = before == 0 ? now : before;
  } while (now - before < 8 * (int64_t)MS);
  UNIT_CHECK(tg_channel_nudge(l) && signals == 2);
  tg_command_free(tg_channel_take(l));
  UNIT_CHECK(!tg_channel_nudge(l) && signals == 2);
  channel_free(l);
}

static void *post_many (void *ud) {
  for (uint32_t i = 0; i < MANY; i++)
    tg_channel_post(ud, command(TG_COMMAND_STOP, i, i % 2 == 0));
  return NULL;
}

static void commands_come_in_order (void) {
  tg_Channel *l = channel_new();
  pthread_t server;
  uint64_t next = 0;
  bool ordered = true;
  pthread_create(&server, NULL, post_many, l);
  while (next < MANY) {
    tg_Command *c = tg_channel_take(l);
    if (c != NULL)
      ordered = ordered && c->id == next++;
    tg_command_free(c);
  }
  pthread_join(server, NULL);
  UNIT_CHECK(ordered && tg_channel_take(l) == NULL);
  UNIT_CHECK(!atomic_load(&l->wanted) && signals > 0);
  channel_free(l);
}

static void what_was_not_taken_goes_with_it (void) {
  tg_Channel *l = channel_new();
  post_many(l);
  tg_Notice *n = tg_notice_new(TG_NOTICE_GONE, 0);
  UNIT_CHECK(tg_channel_notify(l, n));
  channel_free(l);          /* the leak sanitizer looks */
}

/* ---- notices ---- */

static void *notify_many (void *ud) {
  for (uint32_t i = 0; i < MANY; i++)
    tg_channel_notify(ud, tg_notice_new(TG_NOTICE_STOPPED, i));
  return NULL;
}

/* As the server does: sleeps until the bell rings, and takes all there is. */
static void notices_ring_and_come_in_order (void) {
  tg_Channel *l = channel_new();
  pthread_t traced;
  uint64_t next = 0, rung;
  bool ordered = true, silent = false;
  pthread_create(&traced, NULL, notify_many, l);
  while (next < MANY && !silent) {
    struct pollfd bell = {.fd = l->bell, .events = POLLIN};
    silent = poll(&bell, 1, 10000) == 0;
    if (read(l->bell, &rung, sizeof rung) < 0)
      continue;
    atomic_store(&l->news, false);
    for (tg_Notice *n; (n = tg_channel_next(l)) != NULL; tg_notice_free(n))
      ordered = ordered && n->id == next++;
  }
  pthread_join(traced, NULL);
  UNIT_CHECK(!silent && ordered && next == MANY);
  channel_free(l);
}

static void names_are_copied (void) {
  tg_Channel *l = channel_new();
  char name[] = "one";
  const char *names[] = {name, "two"};
  tg_channel_publish(l, names, 2);
  memset(name, 'x', 3);
  UNIT_CHECK(l->nnames == 2 && strcmp(l->names[0], "one") == 0);
  tg_channel_publish(l, names, 0);
  UNIT_CHECK(l->nnames == 0);
  channel_free(l);
}

/* ---- followers that are left ---- */

typedef struct Leaving {
  tg_Channel *channel;
  tg_Follower *follower;
  bool left;
} Leaving;

static void *leave (void *ud) {
  Leaving *g = ud;
  g->left = tg_channel_leave(g->channel, g->follower);
  return NULL;
}

static tg_Follower *follower_new (void) {
  static const uint32_t chain[] = {1, 0};
  Tape t = tape_new();
  tg_Selection all = {0};
  tg_Options o;
  tg_options_init(&o);
  tg_selection_add(&all, &o);
  e_context(&t, 0, 1, chain);
  tg_Follower *f = tg_follower_new(t.stream, 0, &all, 0);
  tg_selection_clear(&all);
  tg_stream_unpin(t.stream);
  return f;
}

/* Either the notice is on its way, and the follower stays; or it has been left,
   and the notice is refused. */
static void follower_is_left_or_told_of (void) {
  uint32_t told = 0, left = 0, both = 0;
  for (int i = 0; i < 500; i++) {
    tg_Channel *l = channel_new();
    Leaving g = {l, follower_new(), false};
    tg_Notice *n = tg_notice_new(TG_NOTICE_TAKEN, 1);
    pthread_t server;
    n->follower = tg_follower_pin(g.follower);
    pthread_create(&server, NULL, leave, &g);
    bool sent = tg_channel_notify(l, n);
    pthread_join(server, NULL);
    told += sent;
    left += g.left;
    both += sent == g.left;
    UNIT_CHECK(atomic_load(&g.follower->gone) == g.left);
    if (!sent)
      tg_notice_free(n);
    tg_follower_unpin(g.follower);
    channel_free(l);
  }
  UNIT_CHECK(both == 0 && told + left == 500);
}

/* ---- waiting ---- */

static void *post_start (void *ud) {
  tg_channel_post(ud, command(TG_COMMAND_START, 1, false));
  return NULL;
}

static void *hang_up (void *ud) {
  tg_channel_hang_up(ud);
  return NULL;
}

static void waits_for_a_trace (void) {
  tg_Channel *l = channel_new();
  pthread_t server;
  UNIT_CHECK(!tg_channel_await(l, true, MS));
  pthread_create(&server, NULL, post_start, l);
  UNIT_CHECK(tg_channel_await(l, true, 60000 * MS));
  pthread_join(server, NULL);
  tg_command_free(tg_channel_take(l));
  UNIT_CHECK(tg_channel_await(l, true, 0));     /* it has asked once */
  UNIT_CHECK(!tg_channel_await(l, false, MS));
  channel_free(l);
}

static void waits_for_the_server_to_be_through (void) {
  tg_Channel *l = channel_new();
  int bell = l->bell;
  pthread_t server;
  pthread_create(&server, NULL, hang_up, l);
  UNIT_CHECK(tg_channel_await(l, false, 60000 * MS));
  pthread_join(server, NULL);
  UNIT_CHECK(tg_channel_notify(l, tg_notice_new(TG_NOTICE_GONE, 0)));
  close(bell);
  channel_free(l);
}

/* A thread that runs its state no more is not signalled. */
static void nobody_is_called_after_parting (void) {
  tg_Channel *l = channel_new();
  tg_channel_part(l);
  tg_channel_post(l, command(TG_COMMAND_STOP, 1, false));
  UNIT_CHECK(signals == 0);
  channel_free(l);
}

/* Takes a message that is there: "client text", or "client gone". */
static void open_message (tg_Channel *l, tg_Buf *text) {
  tg_Message *x = tg_channel_open(l, false);
  if (x == NULL)
    tg_buf_addstr(text, "none");
  else
    tg_buf_addfmt(text, "%d %s, ", (int)x->client,
                  x->kind == TG_MESSAGE_GONE ? "gone" : x->text);
  tg_message_free(x);
}

/* Messages call the program as commands do, and each keeps the other's call. */
static void messages_come_in_order (void) {
  tg_Channel *l = channel_new();
  tg_Buf text = {0};
  UNIT_CHECK(tg_channel_deliver(l, tg_message_new(1, "one", 4)));
  UNIT_CHECK(tg_channel_deliver(l, tg_message_new(2, NULL, 0)));
  tg_channel_post(l, command(TG_COMMAND_STOP, 1, true));
  UNIT_CHECK(signals == 2 && l->messages && l->wanted);
  take(l, &text);
  UNIT_CHECK(l->messages && l->wanted && tg_channel_nudge(l));
  open_message(l, &text);
  open_message(l, &text);
  UNIT_CHECK(!l->messages && !l->wanted && !tg_channel_nudge(l));
  open_message(l, &text);
  UNIT_TEXT(&text, "stop 1, 1 one, 2 gone, none");
  tg_buf_free(&text);
  channel_free(l);
}

/* What is given back is the oldest again; it was heard nevertheless. */
static void messages_may_be_postponed (void) {
  tg_Channel *l = channel_new();
  tg_Buf text = {0};
  tg_channel_deliver(l, tg_message_new(1, "one", 4));
  tg_channel_deliver(l, tg_message_new(1, "two", 4));
  UNIT_CHECK(!tg_channel_heard(l));
  tg_channel_postpone(l, tg_channel_open(l, false));
  UNIT_CHECK(tg_channel_heard(l) && l->messages && l->wanted);
  tg_Message *one = tg_channel_open(l, false);
  tg_Message *two = tg_channel_open(l, false);
  UNIT_CHECK(!l->messages && !l->wanted);
  tg_channel_postpone(l, two);
  tg_channel_postpone(l, one);
  for (int i = 0; i < 3; i++)
    open_message(l, &text);
  UNIT_TEXT(&text, "1 one, 1 two, none");
  tg_channel_deliver(l, tg_message_new(1, "three", 6));
  UNIT_CHECK(!tg_channel_heard(l));
  tg_buf_free(&text);
  channel_free(l);
}

/* Code of a client ends when somebody says so, or when that client goes; of no
   client in particular, when any does; of all, when the server has gone. */
static void messages_end_evaluations (void) {
  tg_Channel *l = channel_new();
  char within[TG_WITHIN];
  int bell = l->bell;
  tg_channel_evaluate(l, true);
  tg_channel_within(l, "string.find");
  UNIT_CHECK(tg_channel_deliver(l, tg_message_new(1, "one", 4)));
  UNIT_CHECK(!tg_channel_ends(l, 1) && !tg_channel_lingers(l, within));
  UNIT_CHECK(tg_channel_deliver(l, tg_message_new(2, NULL, 0)));
  UNIT_CHECK(!tg_channel_ends(l, 1) && tg_channel_ends(l, 2));
  UNIT_CHECK(tg_channel_ends(l, 0) && tg_channel_lingers(l, within));
  UNIT_CHECK(strcmp(within, "string.find") == 0);
  tg_Message *x = tg_message_new(3, "end", 4);
  x->ends = true;
  UNIT_CHECK(tg_channel_deliver(l, x) && tg_channel_ends(l, 1));
  tg_channel_evaluate(l, false);
  UNIT_CHECK(!tg_channel_lingers(l, within) && *within == '\0');
  for (int i = 0; i < 3; i++)
    tg_message_free(tg_channel_open(l, false));
  UNIT_CHECK(!tg_channel_ends(l, 0));
  tg_channel_hang_up(l);
  UNIT_CHECK(tg_channel_ends(l, 1));
  close(bell);
  channel_free(l);
}

/* What is not taken goes with the channel; a program that waits is let go when
   the server has gone; and there is a limit to what may wait. */
static void messages_have_limits (void) {
  static char large[1 << 20];
  tg_Channel *l = channel_new();
  int sent = 0, bell = l->bell;
  while (sent < 1000 && tg_channel_deliver(l, tg_message_new(1, large,
                                                         sizeof large)))
    sent++;
  UNIT_CHECK(sent == 64);
  tg_channel_reply(l, tg_message_new(1, "answer", 7));
  tg_channel_hang_up(l);
  tg_Message *x;
  while ((x = tg_channel_open(l, true)) != NULL)
    tg_message_free(x);
  close(bell);
  channel_free(l);
}

int main (void) {
  UNIT_RUN(messages_come_in_order);
  UNIT_RUN(messages_may_be_postponed);
  UNIT_RUN(messages_have_limits);
  UNIT_RUN(messages_end_evaluations);
  UNIT_RUN(patient_ones_disturb_nobody);
  UNIT_RUN(client_that_comes_and_goes_leaves_nothing);
  UNIT_RUN(nudges_who_has_worked);
  UNIT_RUN(commands_come_in_order);
  UNIT_RUN(what_was_not_taken_goes_with_it);
  UNIT_RUN(notices_ring_and_come_in_order);
  UNIT_RUN(names_are_copied);
  UNIT_RUN(follower_is_left_or_told_of);
  UNIT_RUN(waits_for_a_trace);
  UNIT_RUN(waits_for_the_server_to_be_through);
  UNIT_RUN(nobody_is_called_after_parting);
  return UNIT_END();
}

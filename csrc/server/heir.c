/*
** heir.c - see heir.h. On the thread that runs the state, where it is traced
** too: nothing raises, and no code of the program runs. What cannot be opened
** is told and given up; the program goes on as it would have.
*/
#include "server/heir.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/address.h"
#include "server/endpoint.h"
#include "server/lifeline.h"

typedef struct Heir {
  tg_Session *session;
  tg_Channel *parents;          /* pins */
} Heir;

/* 'what' of this process, and the rest of the line. */
static void tell (const char *what, const char *rest) {
  char line[1024];
  snprintf(line, sizeof line - 1, "tracegrip: the parent has ended, %s %ld%s",
           what, (long)getpid(), rest);
  strcat(line, "\n");
  tg_lifeline_tell(line);
}

static void tell_refusal (const char *why) {
  char rest[768];
  snprintf(rest, sizeof rest, " cannot be reached: %s", why);
  tell("process", rest);
}

static void tell_open (const char *kind, const char *words) {
  char rest[768];
  bool debugs = strcmp(kind, "inspect") == 0;
  snprintf(rest, sizeof rest, debugs ? ", open %s" : " is listening on %s",
           words);
  tell(debugs ? "to debug process" : "process", rest);
}

/* With what the parent said of its clients: signal, patience and limits. False
   with errno. */
static bool admit (lua_State *L, const Heir *h) {
  const tg_Channel *was = h->parents;
  tg_Channel *channel = tg_channel_new(lx_mainthread(L), was->signal,
                                       was->stall_ns, &was->host,
                                       tg_serverthread_bell());
  errno = ENOMEM;
  bool ok = channel != NULL
            && tg_address_admit(L, h->session, channel, tg_heir_succeed);
  int error = errno;
  tg_channel_unpin(channel);
  errno = error;
  return ok;
}

/* As a listener does it (listener.c). */
static bool open_endpoint (lua_State *L, const Heir *h, int plan) {
  if (tg_endpoint_channel(h->session) != NULL)
    return true;
  const char *path = tg_address_search(L, plan, "packagePath", "path");
  const char *cpath = tg_address_search(L, plan, "packageCPath", "cpath");
  bool begun, ok = false;
  do {
    begun = tg_serverthread_begin(path, cpath);
    ok = begun && admit(L, h);
  } while (begun && !ok && errno == ECANCELED);
  lua_pop(L, 2);
  return ok;
}

/* The object is on top, and stays there. */
static void open_again (lua_State *L, const Heir *h) {
  int object = lua_gettop(L);
  tg_address_plan(L, object);
  if (!open_endpoint(L, h, object + 1))
    tell_refusal(strerror(errno));
  else {
    tg_Order o = tg_address_again(L, object);
    if (tg_address_open(L, object, &o, h->session)) {
      tg_address_words(L, object);
      tell_open(o.kind, lua_tostring(L, -1));
    }
    else {
      tell_refusal(o.text[0] != NULL ? o.text[0] : "not enough memory");
      tg_address_free_answer(&o);
    }
  }
  lua_settop(L, object);
}

/* Calls 'f', if there is one, with each address on top that the state has
   inherited, and has not closed. It may leave the list, which may be done while
   that is gone through (lua_next). How many there are. */
static int each (lua_State *L, const Heir *h,
                 void (*f) (lua_State *L, const Heir *h, tg_Address *a)) {
  int n = 0;
  tg_address_all(L);
  lua_pushnil(L);
  while (lua_istable(L, -2) && lua_next(L, -2)) {
    tg_Address *a = lua_touserdata(L, -1);
    if (a->session == h->session && a->child != tg_serverthread_child()) {
      n++;
      if (f != NULL)
        f(L, h, a);
    }
    lua_pop(L, 1);
  }
  return n;
}

static void take_one (lua_State *L, const Heir *h, tg_Address *a) {
  open_again(L, h);
  if (a->child != tg_serverthread_child())
    tg_address_release(L, a);
}

static int take_over (lua_State *L) {
  luaL_checkstack(L, 16, NULL);
  each(L, lua_touserdata(L, 1), take_one);
  return 0;
}

/* An address that is open may be the only thing that memory was enough for:
   then it stays. Whatever came of it, it is not tried again. */
static void take (tg_Session *s, lua_State *L) {
  Heir h = {s, tg_channel_pin(tg_endpoint_channel(s))};
  uint64_t begun = tg_clock_ticks();
  tg_endpoint_close(L, s);
  if (!lx_quietly(L, take_over, &h))
    tell_refusal("not enough memory");
  if (tg_endpoint_channel(s) != NULL && tg_endpoint_channel(s)->addresses == 0)
    tg_address_dismiss(L, s, true);
  if (tg_endpoint_channel(s) == NULL)
    tg_lifeline_leave();
  tg_channel_unpin(h.parents);
  if (tg_session_traces(s))
    tg_session_overhead(s, begun);
}

/* By SIGURG and by no other: see tg_interrupt_forked. */
void tg_heir_succeed (tg_Session *s, lua_State *L) {
  if (!tg_lifeline_wait(tg_endpoint_channel(s)->signal == SIGURG))
    take(s, L);
}

static void forget (lua_State *L, const Heir *h, tg_Address *a) {
  (void)h;
  tg_address_release(L, a);
}

/* The fork has hung up the channel ('bell' -1). Only now may Lua be used to let
   go of the rest. */
void tg_heir_renounce (lua_State *L, tg_Session *s) {
  const Heir h = {s, NULL};
  const tg_Channel *channel = tg_endpoint_channel(s);
  int top = lua_gettop(L);
  if (channel != NULL && channel->bell < 0) {
    tg_endpoint_close(L, s);
    tg_lifeline_leave();
  }
  each(L, &h, forget);
  lua_settop(L, top);
}

void tg_heir_waive (lua_State *L, tg_Session *s) {
  const Heir h = {s, NULL};
  int top = lua_gettop(L);
  if (each(L, &h, NULL) == 0)
    tg_heir_renounce(L, s);
  lua_settop(L, top);
}

/*
** serverthread.h - the server's thread: a Lua state of its own, which speaks
** the protocol for all the states of the process that listen.
**
**     traced thread                         server's thread
**       core.listen  ---- order ---------->  host:take()
**                    <--- answer ----------  host:answer()
**       endpoint (endpoint.h) <=== line (channel.h) ==> Line (clientchannel.h)
**
** The thread starts with the first state that listens, blocks all signals, and
** runs require("tracegrip.server").run(host), which drives luv's loop. It ends
** when the last such state has closed its endpoint, and is joined there.
** Nothing of it runs in a traced state, and no Lua value goes from one to the
** other.
**
** One for the process. Its mutex is taken before those of channels.
*/
#ifndef TG_SERVERTHREAD_H
#define TG_SERVERTHREAD_H

#include "binding/lx.h"
#include "server/channel.h"

/* Creates the metatable; raises. From now on a fork leaves the child without a
   server, and before the process ends, what there is goes out (atfork.h). */
void tg_serverthread_setup (lua_State *L);                     /* [-0, +0, m] */

/*
** What a traced thread wants of the server; it waits for the answer, and what
** an order borrows lives as long.
*/
typedef struct tg_Order {
  struct tg_Order *next;
  uint64_t id, endpoint;
  const char *kind;               /* "listen", "unlisten" */
  const char *title, *host, *path, *token, *defaults, *address;  /* NULL:
                                     none */
  lua_Integer port;               /* -1: none */
  bool taken, answered, good;
  char *text[2];                  /* owns: the address; or message and code */
} tg_Order;

/* ---- the traced thread ---- */

/* Starts the thread if there is none, with what package.path and package.cpath
   are to be there; false with errno. */
bool tg_serverthread_begin (const char *path, const char *cpath);

/* Ends it if nobody listens. */
void tg_serverthread_end_idle (void);

/* The server's eventfd, for a line. */
int tg_serverthread_bell (void);

/* Has the server work on 'o', which has an answer then. */
void tg_serverthread_order (tg_Order *o);

/* A state listens: numbers its endpoint. False without memory. */
bool tg_serverthread_enter (tg_Channel *channel);

/* Its endpoint is closed: its last frames go to the clients, for a moment; the
   last state takes the thread with it. */
void tg_serverthread_leave (uint64_t endpoint);

/* How many forks there are between the first process and this. */
unsigned tg_serverthread_child (void);

#endif

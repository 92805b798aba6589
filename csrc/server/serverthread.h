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
#include "channel/channel.h"

/* From now on a fork leaves the child without a server, and before the process
   ends, what there is goes out (atfork.h). Often is fine. */
void tg_serverthread_setup (void);

/* How long the last frames of a state, or of all, may take to go out. */
#define TG_SERVER_PARTING_NS UINT64_C(1000000000)

/*
** The life of the thread. Whoever ends it waits for it; one that hangs, in a
** finalizer or a library, is left behind, once: the program must not hang with
** it.
**
**               start_thread   report_end    end_thread:     end_thread:
**                              (the thread   not in time     it has ended
**                              itself)
**   none        running        -             -               -
**   running     -              ended         abandoned       -
**   abandoned   -              gone          abandoned       -
**   ended       -              -             -               none (joined)
**   gone        -              -             -               none
**
** In a forked child there is none, whatever the parent has.
*/
typedef enum tg_ServerLife {
  TG_SERVER_NONE,
  TG_SERVER_RUNNING,
  TG_SERVER_ABANDONED,            /* detached: it did not end in time */
  TG_SERVER_ENDED,                /* has returned, and is to be joined */
  TG_SERVER_GONE                  /* has returned after all */
} tg_ServerLife;

/*
** What the server's Lua is told, once: that a state listens no more, that the
** server is to end.
**
**             noted (leave,           told
**             end_thread, at_exit)    (take)
**   nothing   due                     -
**   due       due                     told
**   told      told                    -
**
** A new thread has not been told to end.
*/
typedef enum tg_Telling {
  TG_TELLING_NOTHING,
  TG_TELLING_DUE,
  TG_TELLING_TOLD
} tg_Telling;

/*
** What has become of an order; the traced thread waits until it is granted or
** refused.
**
**            take    answer             order, where the server
**                                       has gone or is silent
**   placed   taken   -                  refused
**   taken    -       granted, refused   refused
*/
typedef enum tg_OrderState {
  TG_ORDER_PLACED,
  TG_ORDER_TAKEN,
  TG_ORDER_GRANTED,
  TG_ORDER_REFUSED
} tg_OrderState;

/*
** What a traced thread wants of the server; it waits for the answer, and what
** an order borrows lives as long.
*/
typedef struct tg_Order {
  struct tg_Order *next;
  uint64_t id, endpoint;
  const char *kind;               /* "listen", "inspect", "unlisten" */
  const char *title, *host, *path, *token, *defaults, *address;  /* NULL:
                                     none */
  lua_Integer port;               /* -1: none */
  tg_OrderState state;            /* the server's mutex, until it is answered */
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

/* A state listens: numbers its endpoint. False with errno: ENOMEM, or ECANCELED
   where the thread has been ended since it was begun, by another state that
   listens no more. Then it is to be begun again. */
bool tg_serverthread_enter (tg_Channel *channel);

/* Its endpoint is closed: its last frames go to the clients, for a moment; the
   last state takes the thread with it. 'meant': the program wants so, and does
   not only end. */
void tg_serverthread_leave (uint64_t endpoint, bool meant);

/* How many forks there are between the first process and this. */
unsigned tg_serverthread_child (void);

/* ---- the server's thread (serverhost.c) ---- */

/* Something that the server has not been told. */
typedef struct tg_ServerEvent {
  const tg_Order *order;          /* borrows, until it is answered; or NULL: */
  const char *kind;               /* "news", "closed", "stop" */
  uint64_t endpoint;              /* of the first two */
} tg_ServerEvent;

/* The next one; false: there is none, and the bell is silent. */
bool tg_serverthread_take (tg_ServerEvent *event);

/* Answers the order of that number, if it still waits; the strings are
   copied. */
void tg_serverthread_answer (uint64_t id, bool good, const char *first,
                             const char *second);

/* The channel of a state that listens, pinned for the caller, or NULL. */
tg_Channel *tg_serverthread_channel (uint64_t endpoint);

/* A descriptor that a forked child inherits and must close; no more. */
void tg_serverthread_keep (int fd);
void tg_serverthread_drop (int fd);

#endif

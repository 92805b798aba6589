/*
** channel.h - between a traced Lua state and the server that speaks for it:
** what each tells the other.
**
** The state's end is its endpoint (endpoint.h), on the thread that runs it; the
** other is the server's, on the server's thread (serverthread.h). Commands go
** in, notices come out, both in order; frames do not pass here but through a
** follower (follower.h), and a notice says at which place of the stream it
** belongs.
**
**     server's thread                            traced thread
**       tg_channel_post ----> commands, signal ----> tg_channel_take
**       tg_channel_next <---- notices, bell <------- tg_channel_notify
**
** The server never waits for the traced thread, which may be asleep for hours:
** a command is on its way when tg_channel_post returns, and the signal sees to
** it that the thread looks at its next safe point (interrupt.h).
**
** Life: made by the endpoint, pinned by it and by the server; the last one
** frees it. Either end may go first.
*/
#ifndef TG_CHANNEL_H
#define TG_CHANNEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/atfork.h"
#include "base/base.h"
#include "channel/command.h"
#include "channel/message.h"
#include "signal/asleep.h"

#define TG_CHANNEL_OWN (UINT64_C(1) << 62)
#define TG_WITHIN 64        /* bytes of a C function's name */

/* The signal, as it was last sent. */
typedef struct tg_Kick {
  int64_t worked;         /* what the thread had worked then, ns */
  bool roused;            /* it was for a message, and the thread waited */
} tg_Kick;

/* Code of a debugger that the program runs. */
typedef struct tg_Evaluated {
  bool runs;
  char within[TG_WITHIN]; /* the C function that it has called last; "": none
                             yet */
} tg_Evaluated;

/*
** Its two ends go once each, either first, and do not come back: the server's
** ('bell'), the program's ('thread'). What is true or false beside that are
** facts of their own, of which any may go with any: 'wanted', 'messages' and
** 'ends' say of the lists what can be asked without the mutex (note_wanted).
*/
typedef struct tg_Channel {
  _Atomic uint32_t refs;
  _Atomic bool wanted;    /* commands or messages are there; a signal handler
                             looks here */
  _Atomic bool messages;  /* messages are; the same */
  _Atomic bool ends;      /* messages are that end an evaluation, or the server
                             has hung up */
  _Atomic bool news;      /* notices are there, or were */
  tg_Asleep asleep;       /* where the thread waited when it was last sent the
                             signal for a message; a handler looks here */
  uint64_t endpoint;      /* its number, one of the process */
  unsigned addresses;     /* at which the state listens; the traced thread's */
  uint64_t stall_ns;      /* how long the program waits for a client */
  tg_Options host;        /* owns: how far clients may go; constant */
  pthread_mutex_t mutex;  /* for all that follows */
  pthread_cond_t moved;   /* the server has done something */
  tg_Command *commands, **last_command;   /* owns */
  tg_Notice *notices, **last_notice;      /* owns */
  tg_Messages inbox;      /* owns: from debuggers, for the program... */
  tg_Messages outbox;     /* owns: ...and what it answers */
  tg_Evaluated evaluated;
  char **names;           /* owns: traces that run in the program */
  size_t nnames;
  uint64_t state;         /* address of its main thread, to be looked at */
  pid_t thread;           /* who runs the state; 0: nobody does any more */
  clockid_t cpu;          /* the time that it has worked */
  tg_Kick kick;
  bool heard;             /* a message was read since the last one came */
  int signal;
  int bell;               /* eventfd of the server's; -1: it has gone */
  bool started;           /* a client has asked for a trace, ever */
  bool urgent;            /* a command is there that cannot wait */
} tg_Channel;

/* A channel of the calling thread's and of the state of that main thread, whose
   clients may go as far as 'host' says (copied); NULL without memory. */
tg_Channel *tg_channel_new (const void *main, int signal, uint64_t stall_ns,
                            const tg_Options *host, int bell);
tg_Channel *tg_channel_pin (tg_Channel *l);
void tg_channel_unpin (tg_Channel *l);      /* NULL is fine */

/* ---- the server's thread ---- */

/* Sends 'c' (owned from here on), and the signal unless it is patient. A
   patient LEAVE and the ATTACH before it, not taken yet, come to nothing. */
void tg_channel_post (tg_Channel *l, tg_Command *c);

/* Sends a debugger's message (owned from here on), and the signal. False, and
   it is freed, if more waits already than a debugger has reason to send. */
bool tg_channel_deliver (tg_Channel *l, tg_Message *x);

/* The oldest message of the program, owned by the caller; NULL: there is
   none. */
tg_Message *tg_channel_collect (tg_Channel *l);

/* Whether the program runs code of a debugger and has not yet taken a message
   that ends it; then 'within' is the C function that the code has called last,
   "" without one. */
bool tg_channel_lingers (tg_Channel *l, char within[TG_WITHIN]);

/* Sends the signal once more if commands wait although the thread has worked
   since: it was at a place where it could not be reached; or if messages wait,
   and the thread does, which ran before. Whether they wait; patient ones do not
   count. */
bool tg_channel_nudge (tg_Channel *l);

/* Whether messages have been read since the last one came, or are not because
   code of a debugger runs. */
bool tg_channel_heard (tg_Channel *l);

/* The oldest notice, owned by the caller; NULL: there is none. */
tg_Notice *tg_channel_next (tg_Channel *l);

/* Leaves the follower, unless a notice is on its way that says to read it. */
bool tg_channel_leave (tg_Channel *l, tg_Follower *follower);

/* The address of the state's main thread; 0: nobody runs the state any more. It
   may close at any time after. */
uint64_t tg_channel_state (tg_Channel *l);

/* The server is through with this channel. */
void tg_channel_hang_up (tg_Channel *l);

/* ---- the traced thread ---- */

/* The oldest command, owned by the caller; NULL: there is none. */
tg_Command *tg_channel_take (tg_Channel *l);

/*
** Sends 'n' and rings. False, and 'n' is still the caller's, if the follower
** that it says to read has been left.
*/
bool tg_channel_notify (tg_Channel *l, tg_Notice *n);

/* The oldest message of a debugger, owned by the caller. NULL: there is none;
   or, with 'wait', the server has hung up and none will come. */
tg_Message *tg_channel_open (tg_Channel *l, bool wait);

/* Code of a debugger begins to run, or ends; it calls a C function. */
void tg_channel_evaluate (tg_Channel *l, bool begins);
void tg_channel_within (tg_Channel *l, const char *name);

/* Whether the code that 'client' has the program run is to end: somebody says
   so, the client has gone, or the server has hung up. 0: code of no client,
   which ends when any goes. */
bool tg_channel_ends (tg_Channel *l, uint64_t client);

/* Takes back a message of a debugger's (owned from here on) that cannot be
   answered yet: it is the oldest again. */
void tg_channel_postpone (tg_Channel *l, tg_Message *x);

/* Sends a message (owned from here on) and rings. */
void tg_channel_reply (tg_Channel *l, tg_Message *x);

/* The same of what may be left out: false, and it is freed, if so many bytes
   wait for the server already. */
bool tg_channel_offer (tg_Channel *l, tg_Message *x, size_t most);

/* These traces run now: a copy; without memory the list stays as it was. */
void tg_channel_publish (tg_Channel *l, const char *const *names, size_t n);

/* Nobody will take commands any more. */
void tg_channel_part (tg_Channel *l);

/* Waits until a client asks for a trace or the server hangs up, 'ns' at most;
   whether that is so. */
bool tg_channel_await (tg_Channel *l, bool start, uint64_t ns);

/* Waits until a debugger says something or the server hangs up, 'ns' at most;
   whether there still is a server. */
bool tg_channel_hear (tg_Channel *l, uint64_t ns);

/* ---- any thread ---- */

void tg_channel_fork (tg_Channel *l, tg_AtFork side);

#endif

/*
** remotes.h - the traces that a client has in a traced state: those that it
** reads as they go, by one follower for all, and those that are kept for it
** (handover.h).
**
** The endpoint's; on the traced thread, in the hook too. Nothing raises.
*/
#ifndef TG_REMOTES_H
#define TG_REMOTES_H

#include "channel/channel.h"
#include "channel/handover.h"
#include "state/session.h"

typedef struct tg_Remote {
  struct tg_Remote *next;
  uint64_t id;
  tg_Trace *trace;            /* anchored while it is active */
  const tg_Trace *mirrored;   /* the program's, or NULL */
  tg_Handover *handover;      /* pins; NULL: it is read as it goes */
} tg_Remote;

typedef struct tg_Remotes {
  tg_Channel *channel;        /* pins */
  tg_Follower *follower;      /* pins: what the client reads */
  tg_Remote *first;           /* owns */
  uint64_t session;           /* of the ATTACH in force; 0: none */
} tg_Remotes;

/* The remote whose trace is 't' or mirrors 't'; the remote with that number.
   NULL: none. */
tg_Remote *tg_remotes_find (const tg_Remotes *d, const tg_Trace *t);
tg_Remote *tg_remotes_find_id (const tg_Remotes *d, uint64_t id);

/* The client is told something that belongs at 'pos'. */
void tg_remotes_tell (const tg_Remotes *d, tg_NoticeKind kind, uint64_t id,
                      tg_End why, tg_Pos pos);

/* How a trace comes to its client. */
typedef struct tg_Joining {
  tg_NoticeKind kind;         /* who started it */
  uint64_t id;
  const tg_Trace *mirrored;   /* the program's, or NULL */
  bool fresh;                 /* a new sequence begins */
  bool makers;                /* with who made what is alive */
  bool bytes;                 /* as bytes of the stream; then it is fresh */
} tg_Joining;

/* The client reads 't', which has just begun, from here on. False without
   memory. */
bool tg_remotes_join (tg_Remotes *d, tg_Trace *t, const tg_Joining *how);

/* Whether the client reads a trace as bytes: it is told of no other trace
   then. */
bool tg_remotes_has_bytes (const tg_Remotes *d);

/* Keeps 't', which has just begun, and takes over the pin of 'k'. False without
   memory, or if nobody wants the trace any more. */
bool tg_remotes_keep (tg_Remotes *d, tg_Trace *t, uint64_t id, tg_Handover *k);

/* Takes 'r' off the client's list and frees it; its trace. */
tg_Trace *tg_remotes_forget (tg_Remotes *d, tg_Remote *r);

/* Stops a trace that nobody has any more. */
void tg_remotes_stop (lua_State *L, tg_Trace *t);              /* [-0, +0, -] */

/* Forgets and stops all traces that the client reads; then those kept too. */
void tg_remotes_stop_read (tg_Remotes *d, lua_State *L);       /* [-0, +0, -] */
void tg_remotes_stop_all (tg_Remotes *d, lua_State *L);        /* [-0, +0, -] */

#endif

/*
** unseen.h - frames that the hook finds on a coroutine without having seen
** their calls: those of one that is older than the trace, and those that were
** called while the hook was away.
*/
#ifndef TG_UNSEEN_H
#define TG_UNSEEN_H

#include "state/session.h"

/* Notes the frames that a coroutine has already, but for the innermost
   'skip'. */
void tg_unseen_read (tg_Coroutine *t, int skip);

/* Notes the frames of the coroutines that run as tracing begins, but for the
   innermost 'skip' of 't', the innermost one. They stay hidden: who is there
   already has no use for them (tg_unseen_reveal), but what they are tells what
   becomes of the frames above. Where only the main coroutine runs, none: it is
   never suspended, and may be deep. */
void tg_unseen_stand (tg_Coroutine *t, int skip);

/* A trace has begun, which wants what no other has wanted so far, or is the
   first that is younger than a frame: what is hidden of suspended coroutines,
   and this trace wants, is in the stream from their next RESUME on. */
void tg_unseen_reveal (tg_Session *s);

/* Notes those inside of the frame 'from', but for the innermost 'skip': as
   tg_unseen_push, where the interpreter's memory is read, and nothing counts as
   missed. False: 'from' is not there. */
bool tg_unseen_above (tg_Coroutine *t, const void *from, int skip);

/* The frame at 'level' of 'L', whose record is 't', was called while nobody
   looked: it stays hidden, and its two packets are counted as missed. */
void tg_unseen_push (tg_Coroutine *t, lua_State *L, int level);

#endif

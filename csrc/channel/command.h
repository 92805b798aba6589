/*
** command.h - what the server has the traced state do for a client, and the
** notices by which that tells what has become of it, and of what the program
** does itself.
**
** Plain structures; the lists in which they wait, and the mutex, are the
** channel's.
*/
#ifndef TG_COMMAND_H
#define TG_COMMAND_H

#include "base/base.h"
#include "options/endreason.h"
#include "options/options.h"
#include "reader/follower.h"

typedef enum tg_CommandKind {
  TG_COMMAND_ATTACH,      /* console traces are to be told, and to join */
  TG_COMMAND_LEAVE,       /* the client's traces stop; none is told any more */
  TG_COMMAND_START,
  TG_COMMAND_KEEP,        /* a trace for whoever has 'kept'; LEAVE is nothing
                             to it */
  TG_COMMAND_STOP         /* either */
} tg_CommandKind;

typedef struct tg_Command {
  struct tg_Command *next;
  tg_CommandKind kind;
  uint64_t id;            /* of the trace; of an ATTACH, its number */
  bool first;             /* START: a new sequence begins */
  bool bytes;             /* START: the client gets the stream as it is */
  bool makers;            /* START: with who made what is alive
                             (session/tracelimits.h) */
  bool patient;           /* it is soon enough when the program looks by
                             itself: no signal disturbs it */
  char *name;             /* owns: of a START */
  tg_Options options;     /* owns: of a START and a KEEP */
  struct tg_Handover *handover; /* pins: of a KEEP (handover.h) */
} tg_Command;

typedef enum tg_NoticeKind {
  TG_NOTICE_TAKEN,        /* a START: the trace runs from 'pos' on */
  TG_NOTICE_REFUSED,      /* a START: no memory */
  TG_NOTICE_STARTED,      /* the program: console.startTrace */
  TG_NOTICE_STOPPED,      /* the program: console.stopTrace */
  TG_NOTICE_ENDED,        /* a trace ended by itself */
  TG_NOTICE_GONE          /* the state is closing: nothing comes any more */
} tg_NoticeKind;

typedef struct tg_Notice {
  struct tg_Notice *next;
  tg_NoticeKind kind;
  tg_End why;             /* ENDED */
  uint64_t session;       /* the ATTACH that was in force */
  uint64_t id;            /* of the trace; the program's have
                             TG_CHANNEL_OWN (channel.h) */
  tg_Pos pos;             /* where in the stream */
  uint64_t ticks;         /* when */
  uint64_t packets;       /* of TAKEN: the stream's count there */
  tg_LacksFrom lacks;     /* of TAKEN and STARTED: from where its losses
                             count */
  tg_Follower *follower;  /* pins: of TAKEN and STARTED, where to read */
  char *name;             /* owns, as 'options': of STARTED */
  tg_Options options;
} tg_Notice;

/* NULL without memory. All else is zeros, for whoever sends it to fill in. */
tg_Command *tg_command_new (tg_CommandKind kind, uint64_t id);
tg_Notice *tg_notice_new (tg_NoticeKind kind, uint64_t id);

/* What it still has: options may have moved into a trace, a handover to a
   remote, and are empty then. NULL is fine. */
void tg_command_free (tg_Command *c);
void tg_notice_free (tg_Notice *n);

#endif

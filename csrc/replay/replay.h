/*
** replay.h - a moment of a recording, and the way to any other one, forwards
** and backwards.
**
** A moment is a number of packets: those that have happened, of a trace as one
** selection sees it. Moment 0 is before the first packet, and 'coming' is the
** packet that happens next:
**
**     moment      0      1        2       3      4
**     packet        >main   >f(1)   <f 2    <main
**                               ^ last  ^ coming, at moment 2
**
** So at moment 2 f has just been called, and at moment 3 its result is there.
** Where one event gives several packets (a throw, a yield) the moments between
** them are none to stand at (tg_replay_stands).
**
** To go forwards is to read. Everything else begins with a state that was kept
** when reading came by (waypoints.h), so it takes no longer from the end of ten
** million calls than from their beginning. What has not been read yet is read
** when it is asked for: a recording is there at once, of any size.
**
** Values are not kept: they are read again where they stand. What the selection
** hides stays hidden there, and what it has found to be a secret so far.
**
** Markers are no packets and have no number: a list of them is kept.
**
** Plain C, one thread. It pins the stream. Memory that is refused, and bytes
** that are no event, end the reading: 'status' says which it was, and what was
** read before is good.
*/
#ifndef TG_REPLAY_H
#define TG_REPLAY_H

#include "base/base.h"
#include "reader/packetredact.h"
#include "replay/callstacks.h"
#include "replay/waypoints.h"

#define TG_REPLAY_UNKNOWN UINT64_MAX

/* A packet of the stream and what is known of its frame. */
typedef struct tg_ReplayPacket {
  tg_Packet packet;     /* values of 'coming' only, until the replay moves */
  tg_CallFrame frame;   /* of 'last' only */
  tg_Pos at;            /* the event that it is of */
} tg_ReplayPacket;

typedef struct tg_ReplayMarker {
  uint64_t number;      /* packets before it */
  uint64_t time_ns;
  tg_Pos at;
  tg_ThreadId thread;
  uint32_t depth;
} tg_ReplayMarker;

typedef struct tg_Replay {
  /* read by all, changed by the replay alone */
  tg_Stream *stream;    /* pins */
  tg_Selection selection; /* owns */
  uint64_t number;      /* the moment */
  bool first;           /* 'last' is not: nothing has happened yet */
  bool over;            /* 'coming' is not: this is the end */
  tg_ReplayPacket last, coming;
  tg_CallStacks stacks; /* owns; at this moment */
  uint64_t total;       /* packets; TG_REPLAY_UNKNOWN before the end was seen */
  tg_Status status;     /* sticky: why there are no more */
  uint64_t damage;      /* with TG_ERR_FORMAT: tg_reader_damage */
  uint64_t unkept;      /* markers beyond TG_REPLAY_MARKERS, up to here */
  /* private */
  tg_Pos from, stop;
  tg_Reader *reader;    /* owns; 'coming' is what it has given last */
  tg_Waypoints ways;    /* owns */
  uint64_t seen;        /* moments up to this one have been read */
  tg_ReplayMarker *markers; /* owns; in order, up to 'seen' */
  uint32_t nmarkers, cmarkers;
  tg_PacketRedact redact;   /* owns; used if the selection hides something */
  tg_Buf ahead;         /* owns; the values of 'coming' then */
  tg_Cursor pin;        /* pins the chunk of the values asked for last */
  const tg_Chunk *context_chunk;  /* where a CONTEXT was looked for last, NULL:
                           nowhere yet... */
  uint32_t context, context_until;  /* ...and found: it is the last one for what
                           comes before the latter offset */
} tg_Replay;

#define TG_REPLAY_MARKERS (UINT32_C(1) << 20)

/* What a replay is of. */
typedef struct tg_ReplaySource {
  tg_Stream *stream;
  tg_Pos from, stop;    /* a trace's, 'from' the position of a CONTEXT */
  const tg_Selection *selection;  /* copied; without its minimum of time */
  uint64_t every;       /* of tg_waypoints_init; for tests */
  size_t most;
} tg_ReplaySource;

/* A replay at its first moment; NULL without memory. */
tg_Replay *tg_replay_new (const tg_ReplaySource *source);
void tg_replay_free (tg_Replay *r);             /* NULL is fine */

/* A reader of all that the replay is of, the caller's; it hides no values. NULL
   without memory. */
tg_Reader *tg_replay_reader (const tg_Replay *r);

/* On to the next moment; false: there is none. */
bool tg_replay_advance (tg_Replay *r);

/*
** To the moment 'number', or to the last one if that comes before. Whether it
** is there. It goes through no more than 'budget' moments: with less than it
** takes it is somewhere before 'number', and goes on with the next call.
*/
bool tg_replay_go (tg_Replay *r, uint64_t number, uint64_t budget);

/* Whether something can be seen at this moment: a call has just begun or ended,
   or it is the first moment or the last. */
bool tg_replay_stands (const tg_Replay *r);

/* Whether 'coming' is the first packet of its event. */
TG_INLINE bool tg_replay_is_fresh (const tg_Replay *r) {
  return !r->over && (r->first || r->coming.at != r->last.at);
}

/* Whether a packet of a call or its end, not of a coroutine's switch. */
TG_INLINE bool tg_replay_is_call (const tg_ReplayPacket *p) {
  return p->packet.why != TG_WHY_YIELD && !p->packet.resumed;
}

/* The coroutine that runs at this moment. */
tg_ThreadId tg_replay_running (const tg_Replay *r);

/*
** Gives the packet 'p' its values, as far as they are known: those of 'last',
** of a frame's entry. They stay until the replay moves or the next such call.
** False without memory, or if they cannot be read any more.
*/
bool tg_replay_recall (tg_Replay *r, tg_Pos at, tg_Packet *p);

/* The packet that entered a frame, with its arguments. */
bool tg_replay_entry (tg_Replay *r, tg_ThreadId thread, const tg_CallFrame *f,
                      tg_Packet *out);

/* The locals of a frame that is not innermost, as they were told where it made
   its call: 'out' has nothing else. False where they were not, and as
   tg_replay_recall. */
bool tg_replay_locals (tg_Replay *r, const tg_CallFrame *f, tg_Packet *out);

/* How many frames of its coroutine the error unwinds that comes next; 0: none
   does. Frames count that the selection does not show. */
uint32_t tg_replay_unwinds (tg_Replay *r);

/* The place in 'markers' of the first one at a moment of 'number' or later. */
uint32_t tg_replay_marker_from (const tg_Replay *r, uint64_t number);

/* A marker as a packet, with its values; as tg_replay_recall. */
bool tg_replay_marker (tg_Replay *r, const tg_ReplayMarker *m, tg_Packet *out);

#endif

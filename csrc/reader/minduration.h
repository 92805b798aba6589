/*
** minduration.h - a reader's packets without the calls that were too short.
**
** Stands between a reader and whoever reads to the end of an interval. A call
** that ran shorter than the selection's minimum vanishes, from its entry to its
** exit, with all pieces that yields cut it into; what it ran is all of them
** together, without the stays of its coroutine elsewhere. What is left nests,
** and its depths and sequence are counted anew.
**
** Whether a call is long is known when it is over, which may be far from its
** entry and after much else. So all is read twice: first by a scout, which
** notes for each call, in the order of entries, whether it is long; then for
** whoever asks. Calls that are open where the scout's reading ends are given,
** however short; those of suspended coroutines have run what they have.
**
**     scout     >a >b <b(yield) >c <c ... >b* <b <a  |   a 1, b 1, c 0
**     filter    >a >b <b(yield) ......... >b* <b <a  |
**
** Whoever does not know a minimum but how many calls there may be asks for a
** survey first (survey.h), which reads all and tells how long calls are, and
** then has the minimum set, with a quota for the shortest of those that are
** left. What is left out by that is told as boxes, if they are wanted
** (lefttime.h).
**
** Plain C; one thread, the reader's. Memory: a bit for each call, two with a
** quota, three if the user wants a minimum as well; the open ones, those that
** wait in suspended coroutines.
*/
#ifndef TG_MINDURATION_H
#define TG_MINDURATION_H

#include "base/base.h"
#include "reader/lefttime.h"
#include "reader/moves.h"
#include "reader/reader.h"
#include "reader/stays.h"

/* Who reads ahead. */
typedef struct tg_Scout {
  tg_Reader *reader;    /* owns */
  tg_Calls calls;       /* owns */
  uint8_t *longs;       /* owns; a bit for each call: long enough */
  uint8_t *sures;       /* owns; the same: also without the quota */
  uint8_t *asked;       /* owns; the same: as long as the user wants calls to
                           be */
  size_t size;          /* bytes of each */
} tg_Scout;

typedef struct tg_MinDuration {
  tg_Reader *reader;    /* borrows */
  uint64_t min_ns;
  uint64_t asked_ns;    /* as much of it as the user's own */
  uint64_t sure_ns;     /* calls shorter than this need some of the quota */
  uint64_t quota;       /* what is left of it */
  uint32_t others;      /* what an entry into a coroutine but main takes */
  uint64_t hidden_ns;   /* time that the innermost frame was one left out */
  uint64_t now_ns;      /* of the latest packet that was read */
  tg_LeftTime left;     /* boxes for that of calls beyond the limit */
  tg_Status status;     /* its own; the reader has another */
  uint64_t sequence;    /* of the next packet given */
  uint32_t depth;       /* of the next frame given */
  tg_Calls calls;       /* owns */
  tg_Scout scout;       /* owns */
  uint32_t *lines;      /* owns; of the tick that was given last */
  uint32_t clines;
  void (*gone) (void *ud, tg_ThreadId thread);
  void *gone_ud;
  void (*pace) (void *ud);
  void *pace_ud;
} tg_MinDuration;

/* Leaves out calls shorter than 'min_ns'; with 0 it costs nothing. The reader
   has read nothing yet, and is watched by this filter alone. */
void tg_minduration_init (tg_MinDuration *s, tg_Reader *reader,
                          uint64_t min_ns);

/* Before anything is read: the minimum is 'min_ns', and entries of calls
   shorter than 'sure_ns' are given as long as the quota lasts, of which one
   into another coroutine than the main one takes 'others'. What is left out by
   that, and not by the user's own minimum, is in boxes if 'left.wanted'. */
void tg_minduration_most (tg_MinDuration *s, uint64_t min_ns, uint64_t sure_ns,
                          uint64_t quota, uint32_t others);

/* Zeroed memory is fine. The reader stays. */
void tg_minduration_free (tg_MinDuration *s);

/* As tg_reader_watch; from now on 's' stays where it is. */
void tg_minduration_watch (tg_MinDuration *s, void (*gone) (void *ud,
tg_ThreadId thread), void *ud);

/* As tg_reader_pace, of both readings. */
void tg_minduration_pace (tg_MinDuration *s, void (*pace) (void *ud), void *ud);

/* Where reading goes on; where all is read twice, half way to where the scout
   is. */
tg_Pos tg_minduration_pos (const tg_MinDuration *s);

/*
** The next packet before 'end', as tg_reader_next; what it borrows stays until
** the next call. Calls that are still open there are given, however short.
*/
bool tg_minduration_next (tg_MinDuration *s, tg_Pos end, tg_Packet *out);

/* The same as moves (moves.h), of which there are none where there is a
   minimum. */
uint32_t tg_minduration_moves (tg_MinDuration *s, tg_Pos end,
                               tg_FrameMove *list, uint32_t most);

/* TG_OK, or why no more packets will come: the reader's reason, or memory. */
tg_Status tg_minduration_status (const tg_MinDuration *s);

#endif

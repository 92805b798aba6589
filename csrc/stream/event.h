/*
** event.h - the events of a stream, byte by byte.
**
** A stream is what the hook writes: one event for one thing that happened, as
** compact as can be. All numbers are little-endian and unaligned. Every event
** begins with a head of four bytes:
**
**      31            8 7    4 3    0
**     +---------------+------+------+
**     | delta, ticks  | flags| kind |      delta: since the event before
**     +---------------+------+------+
**
** and goes on as follows ([x] = present if the flag in brackets is set):
**
**   CONTEXT   u64 ticks (absolute; delta is 0), u32 n, then n times
**             u32 thread, u32 frames: the chain of running coroutines,
**             outermost first, and how many frames each has open. First event
**             of every chunk and of every trace. A reader can start at a
**             CONTEXT; one that is reading on may skip it. LIST: then u32 n, n
**             times u32 function: those frames, in the same order, for readers
**             that come here after a LOST. AHEAD: the chain is already as after
**             the next event. PLACES: values behind it refer by places
**             (values.h), as those of recordings before version 5 do not.
**   TIME      u64 ticks (absolute; delta is 0): the gap was too long for
**             a head. [OVERHEAD: u64 ticks: so much of it was the hook's own,
**             which had more to do than usual.] GAUGE: a head only. The hook
**             has worked on the event before since that, up to now.
**   CALL      u32 function, [SITE: u32 line, [FAR: u32 caller's function]],
**             [VALUES: values]. TAIL: the innermost frame exits first, by a
**             tail call. Without FAR the caller is the innermost frame.
**   RETURN    [VALUES: values]: the innermost frame exits. NOTHING: there are
**             no values. TAIL: by a tail call of a function that is hidden.
**   THROW     u32 n, [VALUES: values]: the n innermost frames of the running
**             coroutine exit by an error.
**   YIELD     [VALUES: values]: the running coroutine is suspended: all its
**             frames exit; its resumer runs on. Without VALUES the values
**             yielded are the arguments of its innermost frame.
**   RESUME    u32 thread, [LIST: u32 n, n times u32 function]: a coroutine
**             starts or goes on, above the running one. With LIST its frames,
**             outermost first; without LIST the frames are as they were at its
**             YIELD (none if the coroutine was never seen). UNTOLD, of a
**             function listed: the frame is older than this, but no event has
**             told of it yet. Whoever has met the coroutine before shows
**             nothing of that frame; to others it is like the rest.
**   LEAVE     the running coroutine has ended; its resumer runs on.
**   TERMINATE all frames of the whole chain exit; the stream ends here.
**   GONE      u32 thread: a suspended coroutine will never be resumed; said
**             when it is noticed, if ever.
**   LOST      u64 packets: so many are missing here. All frames exit, what was
**             suspended is forgotten; the CONTEXT that follows, which has a
**             LIST, says which frames there are now. Never written by the hook.
**   MARK      u32 sort (marks.h) and, from bit 8 on, how many groups are open,
**             [NUMBER: u64], [SITE: u32 line, u32 function], [VALUES: values]:
**             the running coroutine has called a method of the console. NUMBER:
**             nanoseconds since its timer began, or how often it was counted,
**             or of HEAP the bytes that Lua has allocated. A MARK stands for no
**             packet.
**   SAMPLE    u64 ns, u32 ticks, u32 kept, u32 n, n times u32 function,
**             u32 line: what ran when a tick came, all frames of the running
**             chain, outermost first. Function 0: the coroutine (in place of
**             the line) whose frames follow. TG_SAMPLE_TRACED: the frame has a
**             CALL in this stream. PASSING, of the last: its CALL is to come,
**             or its RETURN is over. The first 'kept' entries are those of the
**             SAMPLE before, which is then behind the last CONTEXT. 'ns' is how
**             long the program has run since the sample before, 'ticks' how
**             many came. By the clock, 'ns' is all of that time; WAITED: the
**             program has waited for that time. APART: a u64 more in the end;
**             so many nanoseconds since the sample before were the hook's, as
**             ticks tell, and are not in 'ns'. OTHERS: a u64 more; for so many
**             others had the processor, and are not in either. UNTRACED: the
**             program ran without the hook since the sample before.
**   ALLOCATIONS  var allocations, var bytes allocated, var bytes freed, var
**             bytes of Lua's heap now (0: not known), var above: what Lua's
**             allocator was asked for since the ALLOCATIONS before, by whoever
**             ran until now. Meanwhile the heap had 'above' bytes more than
**             both before and now. The event stands for no packet. [HELD: which
**             of the blocks are still there, and whose (holdings.h).]
**   WAIT      u64 ticks (absolute; delta is 0), u64 ticks waited: so long the
**             program has waited for a reader, up to now. A wait is no time of
**             the program's: readers take it out of their times.
**
** 'values' is a u32 byte count and the bytes that values.h describes. The bit
** REFERS of the count says that they may refer to bytes before them, from the
** last CONTEXT on.
**
** Most calls and returns are written shorter, where all numbers fit:
**
**      23            8 7    4 3    0
**     +---------------+------+------+
**     | delta, ticks  | flags|   0  |  u16 function, [SITE: u16 line, [FAR: u16
**     +---------------+------+------+  caller's function]], [VALUES: values]
**     | delta, ticks  | flags|   4  |  [VALUES: values]
**     +---------------+------+------+
**
** A CALL of kind 0 has one flag at least: where it has no other, FAR, which
** says nothing without SITE. A RETURN that is short has the flag SHORT. Before
** 'values' their count is a var, and where that takes more than one byte they
** may refer, as with REFERS.
** Frames hidden when recorded appear nowhere here, nor in any count.
*/
#ifndef TG_EVENT_H
#define TG_EVENT_H

#include <string.h>

#include "base/base.h"

typedef enum tg_Kind {
  TG_EV_NONE,           /* zeroed memory: no event; with a flag, a CALL */
  TG_EV_CONTEXT,
  TG_EV_TIME,
  TG_EV_CALL,
  TG_EV_RETURN,
  TG_EV_THROW,
  TG_EV_YIELD,
  TG_EV_RESUME,
  TG_EV_LEAVE,
  TG_EV_TERMINATE,
  TG_EV_GONE,
  TG_EV_LOST,
  TG_EV_MARK = 12,
  TG_EV_SAMPLE = 13,
  TG_EV_WAIT = 14,
  TG_EV_ALLOCATIONS = 15
} tg_Kind;

enum {
  TG_EVF_VALUES = 1u << 4,
  TG_EVF_UNTRACED = 1u << 4, /* SAMPLE */
  TG_EVF_TAIL   = 1u << 5,   /* CALL, RETURN */
  TG_EVF_LIST   = 1u << 5,   /* RESUME, CONTEXT */
  TG_EVF_NUMBER = 1u << 5,   /* MARK */
  TG_EVF_OVERHEAD = 1u << 5, /* TIME */
  TG_EVF_WAITED = 1u << 5,   /* SAMPLE */
  TG_EVF_HELD   = 1u << 5,   /* ALLOCATIONS */
  TG_EVF_SITE   = 1u << 6,   /* CALL, MARK */
  TG_EVF_NOTHING = 1u << 6,  /* RETURN */
  TG_EVF_AHEAD  = 1u << 6,   /* CONTEXT */
  TG_EVF_APART  = 1u << 6,   /* SAMPLE */
  TG_EVF_GAUGE  = 1u << 6,   /* TIME */
  TG_EVF_FAR    = 1u << 7,   /* CALL */
  TG_EVF_PLACES = 1u << 7,   /* CONTEXT */
  TG_EVF_SHORT  = 1u << 7,   /* RETURN */
  TG_EVF_OTHERS = 1u << 7    /* SAMPLE */
};

#define TG_VALUES_REFERS (UINT32_C(1) << 31)

/* In a SAMPLE's function. */
#define TG_SAMPLE_TRACED (UINT32_C(1) << 31)
#define TG_SAMPLE_PASSING (UINT32_C(1) << 30)
#define TG_SAMPLE_FLAGS (TG_SAMPLE_TRACED | TG_SAMPLE_PASSING)

/* In the list of a RESUME. */
#define TG_RESUME_UNTOLD (UINT32_C(1) << 31)

#define TG_MARK_SORT 0xffu           /* bits of a MARK's sort */
#define TG_MARK_GROUPSHIFT 8

#define TG_EV_KINDMASK 0x0fu
#define TG_EV_DELTASHIFT 8
#define TG_EV_DELTAMAX ((UINT64_C(1) << 24) - 1)

/* Of what is written shorter: */
#define TG_SHORT_MAX 0xffffu          /* a delta, an id, a line */
#define TG_SHORT_HEAD 3u              /* bytes */
#define TG_SHORT_LIST 0x7fu           /* values, whose count is one byte... */
#define TG_SHORT_WIDE 0x3fffu         /* ...or two */

TG_INLINE uint8_t *tg_put16 (uint8_t *p, uint32_t v) {
  uint16_t low = (uint16_t)v;
  memcpy(p, &low, 2);
  return p + 2;
}

TG_INLINE uint8_t *tg_put32 (uint8_t *p, uint32_t v) {
  memcpy(p, &v, 4);
  return p + 4;
}

TG_INLINE uint8_t *tg_put64 (uint8_t *p, uint64_t v) {
  memcpy(p, &v, 8);
  return p + 8;
}

TG_INLINE uint32_t tg_get16 (const uint8_t *p) {
  uint16_t v;
  memcpy(&v, p, 2);
  return v;
}

TG_INLINE uint32_t tg_get32 (const uint8_t *p) {
  uint32_t v;
  memcpy(&v, p, 4);
  return v;
}

TG_INLINE uint64_t tg_get64 (const uint8_t *p) {
  uint64_t v;
  memcpy(&v, p, 8);
  return v;
}

/* LEB128: seven bits a byte, low ones first. At most ten bytes. */
TG_INLINE uint8_t *tg_putvar (uint8_t *p, uint64_t v) {
  while (v >= 0x80) {
    *p++ = (uint8_t)(v | 0x80);
    v >>= 7;
  }
  *p++ = (uint8_t)v;
  return p;
}

/* The same with a fixed number of bytes, all of them but the last with more to
   come. */
TG_INLINE uint8_t *tg_putwide (uint8_t *p, uint64_t v, uint32_t bytes) {
  for (; bytes > 1; bytes--, v >>= 7)
    *p++ = (uint8_t)(v | 0x80);
  *p++ = (uint8_t)v;
  return p;
}

/* Reads what tg_putvar has written: bytes of our own. */
TG_INLINE uint64_t tg_getvar (const uint8_t **p) {
  uint64_t v = 0;
  unsigned shift = 0;
  while (**p >= 0x80) {
    v |= (uint64_t)(*(*p)++ & 0x7f) << shift;
    shift += 7;
  }
  return v | (uint64_t)*(*p)++ << shift;
}

#endif

/*
** holdings.h - who has what, as an ALLOCATIONS tells it (event.h) where the
** flag HELD is set: behind its five numbers.
**
**     u8 flags   bits 0 to 3 are 0, so a reader that is older finds no event
**                there, and ends; 10 SAMPLED, 20 FORGOTTEN, 40 LINES
**     var size   of what follows
**     [SAMPLED:  var every]
**     [LINES:    var n; n times var function, var line, var allocations, var
**                bytes: where of what was allocated the line is known]
**     var origin, [not 0: var blocks, var bytes]: what ran up to here has that
**                number, and so much of what it has made is still there
**     [above:    [origin not 0: var blocks, var bytes: of it when the heap was
**                at its highest], var n: so many of the changes were before]
**     changes    up to the end: var origin, as the zigzag difference to the one
**                before; var 2 x blocks + last; [not last: var bytes]: so much
**                of it is no more there; last: all that was left
**
** FORGOTTEN: what was told before is not known any more. The numbers of origins
** are used again (origins.h).
**
** Where several lines have allocated between two events, each line's origin has
** an ALLOCATIONS of its own beside that of all: with the heap's size and LINES,
** and numbers that are 0. Before that of all it tells what the origin has, or
** had when the heap was at its highest; then, once more behind it, what it has.
**
** Written in the hook; read by anyone, from bytes that may be anything.
*/
#ifndef TG_HOLDINGS_H
#define TG_HOLDINGS_H

#include "base/alloclines.h"
#include "base/bytereader.h"
#include "base/origins.h"
#include "stream/event.h"

enum {
  TG_HELD_SAMPLED = 0x10,
  TG_HELD_FORGOTTEN = 0x20,
  TG_HELD_LINES = 0x40
};

/* Bytes that tg_holdings_put takes at most. Very many changes are told by more
   than one event. */
size_t tg_holdings_room (const tg_Origins *o, const tg_AllocLines *lines);

/* Writes what there is to tell of the main part, of lines that no other part
   tells of, and of changes; but no more changes than there was room for: '*n'
   is how many. 'above' as in the event. Returns the end. */
uint8_t *tg_holdings_put (uint8_t *p, const tg_Origins *o,
                          const tg_AllocLines *lines, uint64_t above,
                          uint32_t *n);

/* The same of a line's part alone: what its origin has, and what the line has
   allocated. TG_HOLDINGS_PART bytes at most. */
#define TG_HOLDINGS_PART 96u
uint8_t *tg_holdings_put_part (uint8_t *p, const tg_Origins *o,
                               const tg_OriginPart *part, tg_Holding has,
                               const tg_AllocLine *line);

/* The part that is told of with all the rest: the only one, or that of no line;
   NULL if there is none. */
const tg_OriginPart *tg_holdings_main (const tg_Origins *o);

/* Whether part 'i' has an event of its own before that of all, or behind it,
   and what it has there. 'above' as in the event of all. */
bool tg_holdings_before (const tg_Origins *o, uint32_t i, uint64_t above,
                         tg_Holding *has);
bool tg_holdings_behind (const tg_Origins *o, uint32_t i, uint64_t above,
                         tg_Holding *has);

/* The line of a part: what all of its instructions have allocated. */
tg_AllocLine tg_holdings_line_of (const tg_OriginPart *part,
                                  const tg_AllocLines *lines);

/* What of it was read. */
typedef struct tg_Holdings {
  bool forgotten;
  uint64_t every;             /* bytes; 0: all blocks are told */
  tg_OriginId origin;         /* 0: none */
  tg_Holding now, high;       /* 'high' is 'now' without 'above' */
  uint64_t nhigh;             /* changes before the highest moment; without
                                 'above' all */
  /* private */
  tg_ByteReader lines;
  uint64_t nlines;
  tg_ByteReader changes;
  tg_OriginId before;
} tg_Holdings;

/* Passes over them in an event; what is none is missing. */
void tg_holdings_pass (tg_ByteReader *b);

/* From the bytes that were passed over; false if they make no sense. */
bool tg_holdings_read (tg_Holdings *h, tg_ByteReader b, uint64_t above);

/* The line that all is of, if it is one: 'count' and 'bytes' are what the event
   has allocated. False if it is not known. */
bool tg_holdings_only (const tg_Holdings *h, uint64_t count, uint64_t bytes,
                       tg_AllocLine *line);

/* The next line, without 'pc'; false at the end. */
bool tg_holdings_line (tg_Holdings *h, tg_AllocLine *line);

/* The next change; false at the end, and from where they make no sense. Of one
   that is the last of its origin 'less' is not told. */
bool tg_holdings_next (tg_Holdings *h, tg_OriginChange *change);

#endif

/*
** readstate.h - what a reader is made of. Private to reader.c and moves.c,
** which go on from where the other has stopped.
*/
#ifndef TG_READSTATE_H
#define TG_READSTATE_H

#include "reader/clockpast.h"
#include "reader/eventtime.h"
#include "reader/packetredact.h"
#include "reader/reader.h"
#include "reader/timers.h"

struct tg_Reader {
  tg_Stream *stream;    /* pins */
  tg_Cursor cursor;     /* pins the chunks from here on, once placed */
  tg_Pos from;
  uint64_t lost;
  tg_EventTime time;
  uint32_t context;     /* offset in the cursor's chunk of the last CONTEXT, to
                           which values refer */
  tg_CountedModels models;      /* of what is behind that */
  tg_Prices prices;     /* borrows, of the chunk: of lists to come */
  uint64_t to_ns;       /* no event after this time is read */
  tg_Timers timers;     /* these two only if markers are asked for: owns */
  tg_ClockPast past;    /* owns; if costs are taken out */
  tg_Framer framer;     /* owns; its status is the reader's */
  tg_PacketRedact redact;   /* owns; used if the selection hides something */
  void (*pace) (void *ud);
  void *pace_ud;
};

/* Where values may refer to, in the cursor's chunk. A copy of a reader at the
   end of a chunk may be placed in the next one. */
TG_INLINE uint32_t tg_readstate_context (const tg_Reader *r) {
  return r->context <= r->cursor.offset ? r->context : 0;
}

/* What the next list of the chunk has cost the hook. */
TG_INLINE uint64_t tg_readstate_price (tg_Reader *r, tg_Slice values) {
  if (r->prices.count > 0) {
    tg_ValuePrice price = *r->prices.list++;
    r->prices.count--;
    if (tg_likely(price != TG_PRICES_ASK))
      return price;
  }
  return tg_costs_of_list(r->time.true_clock.costs, values, &r->models);
}

#endif

/*
** readahead.h - packets read ahead, on other threads, for whoever takes long
** with each: reading an export and writing it go on at the same time.
**
** Packets come in batches, in order. One thread reads; if there is 'work' that
** can be done with each batch by itself, others do it, and whoever asks for the
** next batch helps instead of waiting. A document that is put together in parts
** has batches without packets, which are nothing but their number
** (tg_readahead_parts):
**
**     reads -> | filled | claimed | done | done | -> given
**
** The first batch is read by whoever asks, so a short trace makes no thread;
** where there is one processor only, or no thread to be had, all of them are.
**
** Plain C. From the first call of tg_readahead_next to the end the filter by
** duration and its reader belong to the reading thread. What packets borrow
** lasts as long as their batch.
*/
#ifndef TG_READAHEAD_H
#define TG_READAHEAD_H

#include <pthread.h>

#include "packet/grips.h"
#include "reader/minduration.h"

#define TG_BATCH_PACKETS 2048u
#define TG_BATCH_CHUNKS 8u      /* 2 MiB that a batch keeps loaded at most */

typedef struct tg_Batch {
  uint64_t number;            /* from 0 on */
  tg_Packet *packets;         /* owns; NULL: it is a part of a document... */
  uint32_t count;             /* ...and counts as one */
  /* for the work */
  uint32_t worked;            /* packets that 'text' is of */
  tg_Buf text;                /* owns */
  uint32_t *ends;             /* owns; for each packet: where its part of 'text'
                                 ends, if the work says so */
  tg_Scratch scratch;         /* owns */
  void *own;                  /* owns; what else the work keeps from batch to
                                 batch... */
  void (*free_own) (void *own); /* ...and how it is freed */
  /* private */
  tg_Cursor pins[TG_BATCH_CHUNKS]; /* of the chunks that values are in */
  uint32_t npins;
  tg_Buf values;              /* owns; those that are in no chunk */
  bool done;                  /* may be given */
} tg_Batch;

/* Makes 'text' of a batch's packets, of the first of them at least; on any
   thread. */
typedef void tg_BatchWork (void *ud, tg_Batch *b);

#define TG_AHEAD_THREADS 4u
#define TG_AHEAD_BATCHES 4u

typedef struct tg_ReadAhead {
  tg_MinDuration *minduration;  /* borrows; NULL: there are parts... */
  uint64_t parts;             /* ...so many, one at least */
  tg_Pos stop;
  tg_BatchWork *work;         /* NULL: there is none */
  void *ud;
  pthread_mutex_t mutex;      /* of all below but the batches' contents */
  pthread_cond_t changed;
  tg_Batch ring[TG_AHEAD_BATCHES];    /* by number, modulo theirs */
  uint64_t filled;            /* batches so far... */
  uint64_t claimed;           /* ...that are worked on, or were... */
  uint64_t given;             /* ...that were given, and given back */
  bool holding;               /* number 'given' is in use */
  bool ended;                 /* there are no more to fill */
  bool failed;                /* for want of memory */
  bool cancelled;
  pthread_t threads[TG_AHEAD_THREADS];
  uint32_t nthreads;          /* 0: whoever asks does it all */
} tg_ReadAhead;

void tg_readahead_begin (tg_ReadAhead *a, tg_MinDuration *s, tg_Pos stop,
                         tg_BatchWork *work, void *ud);

/* Numbers from 0 to 'parts' - 1 instead of packets: what is made of each is the
   work's business. */
void tg_readahead_parts (tg_ReadAhead *a, uint64_t parts, tg_BatchWork *work,
                         void *ud);

/* The next batch, with one packet at least, and gives back the one before. NULL
   at the end; then 'failed' or tg_minduration_status says why. */
tg_Batch *tg_readahead_next (tg_ReadAhead *a);

/* Reads no more, and frees. No thread is left. */
void tg_readahead_end (tg_ReadAhead *a);

#endif

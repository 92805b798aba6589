/*
** sieve.h - a reader's packets without the calls that were too short.
**
** Stands between a reader and whoever reads to the end of an interval. A call
** shorter than the demand's minimum vanishes, and with it everything inside,
** which is shorter still; so what is left nests, at the depths that it had, and
** is counted anew without holes. How long a call took is known at its exit:
** until it has lasted long enough its packet is held back, as a copy.
**
** A frame that yields and is resumed gives two pairs of packets; each is
** judged by itself, from its enteredFrame to its exit.
**
** Plain C; one thread, the reader's.
*/
#ifndef TG_SIEVE_H
#define TG_SIEVE_H

#include "base.h"
#include "buf.h"
#include "reader.h"

/* The enteredFrame of an open call. */
typedef struct tg_Held {
  tg_Packet packet;
  size_t at;            /* its values, if any: in 'bytes' */
  size_t put_in;        /* of them, strings that were elsewhere */
} tg_Held;

typedef struct tg_Sieve {
  tg_Reader *reader;    /* borrows */
  uint64_t min_ns;
  uint64_t sequence;    /* of the next packet given */
  tg_Status status;     /* its own; the reader has another */
  bool waiting;         /* 'in' is yet to be dealt with */
  tg_Packet in;         /* the reader's latest */
  tg_Held *held;        /* owns; innermost last */
  size_t first, count;  /* held back are first .. count - 1 */
  size_t capacity;
  tg_Buf bytes;         /* owns; values of those held back, innermost last */
  size_t put_in;        /* in 'bytes', at most TG_COPIES_MAX */
} tg_Sieve;

/* Leaves out calls shorter than 'min_ns'; with 0 it costs nothing. */
void tg_sieve_init (tg_Sieve *s, tg_Reader *reader, uint64_t min_ns);

/* Zeroed memory is fine. The reader stays. */
void tg_sieve_free (tg_Sieve *s);

/*
** The next packet before 'end', as tg_reader_next; what it borrows stays until
** the next call. Calls that are still open there are given, however short.
*/
bool tg_sieve_next (tg_Sieve *s, tg_Pos end, tg_Packet *out);

/* TG_OK, or why no more packets will come: the reader's reason, or memory. */
tg_Status tg_sieve_status (const tg_Sieve *s);

#endif

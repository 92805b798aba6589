/*
** spool.h - long columns of text put aside, to be written one after the other.
**
** Some formats want all values of a column together, or all samples of one
** thread before those of the next, while packets bring a bit of each. What a
** column has gathered is put aside a piece at a time: all columns of a spool
** together have TG_SPOOL_MEMORY, and beyond that one temporary file. So memory
** is that and a few KiB for each column at most, however long they are.
** Plain C, one thread; what is all there may be read by several.
*/
#ifndef TG_SPOOL_H
#define TG_SPOOL_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/buf.h"
#include "text/outfile.h"

#define TG_SPOOL_BLOCK ((uint64_t)2 << 20)    /* a large page (alloc.h) */
#define TG_SPOOL_BLOCKS 32u
#define TG_SPOOL_MEMORY (TG_SPOOL_BLOCKS * TG_SPOOL_BLOCK)

/* Places up to TG_SPOOL_MEMORY are in the blocks, those from there on in the
   file. */
typedef struct tg_Spool {
  char *blocks[TG_SPOOL_BLOCKS];  /* owns; as far as they are needed */
  uint64_t filled;        /* bytes of the blocks that are in use */
  int fd;                 /* owns; -1: no file yet */
  uint64_t end;           /* bytes in the file */
  _Atomic int error;      /* errno of what failed; 0 = nothing */
} tg_Spool;

/* A part of a column that was put aside. */
typedef struct tg_Piece {
  uint64_t place;
  size_t size;            /* bytes */
} tg_Piece;

/* Zeroed memory is an empty column. */
typedef struct tg_Column {
  tg_Buf text;            /* owns; the latest part: add to it */
  tg_Piece *pieces;       /* owns */
  uint32_t count, capacity;   /* of pieces */
  uint64_t values;        /* for the owner to count */
} tg_Column;

/* Where the file is made: TMPDIR or /tmp. */
const char *tg_spool_directory (void);

void tg_spool_init (tg_Spool *s);
void tg_spool_free (tg_Spool *s);

/* Puts 'text' aside if it has become long. False if anything has failed. */
bool tg_column_turn (tg_Spool *s, tg_Column *c);

/* Puts 'text' aside however short it is, and frees its memory. */
bool tg_column_put (tg_Spool *s, tg_Column *c);

/* Adds the whole column to 'out'. False if anything has failed. */
bool tg_column_write (tg_Spool *s, tg_Column *c, tg_OutFile *out);

/* The bytes of piece 'i' of a column: where they are, or in 'room', of whose
   contents nothing stays. Pieces are 0 to 'count', and each ends where
   tg_column_turn was called. False if anything has failed; on any thread, while
   nothing is put aside. */
bool tg_column_look (tg_Spool *s, const tg_Column *c, uint32_t i,
                     tg_Buf *room, tg_Slice *bytes);

/* Puts them in place of what 'to' holds. */
bool tg_column_read (tg_Spool *s, const tg_Column *c, uint32_t i, tg_Buf *to);

void tg_column_free (tg_Column *c);

#endif

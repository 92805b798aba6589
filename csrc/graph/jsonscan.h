/*
** jsonscan.h - JSON text from its beginning to its end, value by value, for
** documents of gigabytes: nothing is kept of what has been passed.
**
** The first thing that is wrong latches 'wrong', with its place; from there on
** nothing is found. Depth is bounded. Plain C.
*/
#ifndef TG_JSONSCAN_H
#define TG_JSONSCAN_H

#include "base/buf.h"

typedef struct tg_JsonScan {
  const char *start, *p, *end;  /* borrows */
  const char *wrong;    /* what should have been there; NULL: nothing wrong */
} tg_JsonScan;

void tg_jsonscan_init (tg_JsonScan *s, const char *data, size_t size);

/* False, and says what should be here. */
bool tg_jsonscan_fail (tg_JsonScan *s, const char *wanted);

/* Whether that character is next, after blanks; it is then behind. */
bool tg_jsonscan_accept (tg_JsonScan *s, char c);
bool tg_jsonscan_expect (tg_JsonScan *s, char c);

/* Whether there is one more element before 'close'; '*n' is 0 at first and
   counts them. */
bool tg_jsonscan_more (tg_JsonScan *s, char close, uint64_t *n);

/* A string, decoded, in place of what 'to' had. */
bool tg_jsonscan_string (tg_JsonScan *s, tg_Buf *to);

/* A number without sign and fraction, of 64 bits. */
bool tg_jsonscan_unsigned (tg_JsonScan *s, uint64_t *n);

/* 'n' numbers with commas between them and nothing else, as whoever writes
   millions of them does. False, and nothing is passed: they are to be looked at
   one by one. */
bool tg_jsonscan_row (tg_JsonScan *s, uint64_t *list, uint32_t n);

/* Passes any value. */
bool tg_jsonscan_skip (tg_JsonScan *s);

#endif

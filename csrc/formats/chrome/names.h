/*
** names.h - what trace events say of a function, put together once:
**
**     "name":...,"cat":...,"args":{"source":"url:line"
**
** Plain C, one thread. Memory: functions.
*/
#ifndef TG_CHROMENAMES_H
#define TG_CHROMENAMES_H

#include "base/buf.h"
#include "stream/functions.h"

typedef struct tg_ChromeName {
  size_t at;                  /* where it is */
  uint32_t size;              /* 0: not yet put together */
  uint32_t url, url_size;     /* where in it the url is */
} tg_ChromeName;

typedef struct tg_ChromeNames {
  const tg_Functions *functions;  /* borrows */
  /* private */
  tg_ChromeName *list;        /* owns; by function id */
  uint32_t capacity;
  tg_ChromeName unknown;      /* of all ids that have no definition */
  tg_Buf text;                /* owns */
} tg_ChromeNames;

/* Both add to 'out'; false without memory. Unknown functions are anonymous. */
bool tg_chromenames_put (tg_ChromeNames *w, tg_FunctionId id, tg_Buf *out);

/* A line of the function: url:line" */
bool tg_chromenames_place (tg_ChromeNames *w, tg_FunctionId id,
                           uint32_t line, tg_Buf *out);

void tg_chromenames_free (tg_ChromeNames *w);

#endif

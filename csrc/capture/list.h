/*
** list.h - one list while it is captured. Private to the files of capture.
*/
#ifndef TG_CAPTURE_LIST_H
#define TG_CAPTURE_LIST_H

#include "capture/grip.h"
#include "state/session.h"

typedef struct tg_Capture {
  tg_Session *session;
  lua_State *L;
  const tg_Limits *limits;
  tg_ObjectPool *pool;
  const uint8_t *lim;           /* end of the room; NULL: it was too small */
  uint32_t cost;
  bool in_stream;               /* strings before this one can be referred to */
  bool refers;                  /* and have been */
  bool redacts;                 /* something may be to be hidden */
  bool left_out;                /* a property of the table has been */
  bool unknown;                 /* memory does not tell all (slotvalue.h) */
  const void *base;             /* the list's slots (slotvalue.h) */
  const void *meta;             /* whose class is known: */
  const char *name;             /* NULL: it gives none (memory: slotvalue.h) */
  size_t name_size;
  int mark, above;              /* of the stack (askedvalue.h) */
} tg_Capture;

#endif

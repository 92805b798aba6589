/*
** screen.h - how much of a live log a terminal is given: in each twentieth of a
** second as many lines as it shows, since nobody could read more. Where there
** is no terminal, all.
**
** Plain C, one thread: the log's, which owns it.
*/
#ifndef TG_SCREEN_H
#define TG_SCREEN_H

#include "base/base.h"
#include "text/fdwriter.h"

typedef struct tg_Screen {
  uint64_t frame;       /* number of the latest twentieth of a second */
  uint32_t left;        /* lines that may still be written in it */
  bool bounded;         /* it is a terminal of known height */
} tg_Screen;

/* What time it is: a new frame has room again. */
void tg_screen_refresh (tg_Screen *s, const tg_FdWriter *to);

/* A line has been written. */
TG_INLINE void tg_screen_spend (tg_Screen *s) {
  s->left -= s->left > 0;
}

/* Whether there is room for one more. */
TG_INLINE bool tg_screen_has_room (tg_Screen *s, const tg_FdWriter *to) {
  if (s->left == 0)
    tg_screen_refresh(s, to);
  return s->left > 0 || !s->bounded;
}

#endif

/*
** namememo.h - which names are secret, remembered: the keys of tables are the
** same few over and over, and a list of patterns takes some thousand times as
** long as to look one up.
**
** The question is put under a lock: those who work on parts of one export ask
** one selection on several threads, and patterns are one thread's at a time
** (text/patterns.h).
*/
#ifndef TG_NAMEMEMO_H
#define TG_NAMEMEMO_H

#include "base/base.h"

typedef struct tg_NameMemo tg_NameMemo;

/* Decides what is not remembered; under the lock. */
typedef bool tg_NameDecide (const void *ud, const char *name, size_t size);

tg_NameMemo *tg_namememo_new (void);        /* NULL without memory */
void tg_namememo_free (tg_NameMemo *m);     /* NULL is fine */

/* What 'decide' says of the name, or has said of it lately. */
bool tg_namememo_ask (tg_NameMemo *m, const char *name, size_t size,
                      tg_NameDecide *decide, const void *ud);

#endif

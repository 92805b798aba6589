/*
** crosscheck.h - in a build with TG_CROSSCHECK all that the hook reads from
** memory is asked of the public API as well, and must be the same; else
** nothing.
**
** `make crosscheck` runs the suite on such a build. What differs ends the
** program with a message.
*/
#ifndef TG_CROSSCHECK_H
#define TG_CROSSCHECK_H

#include "capture/call.h"
#include "capture/capture.h"

#ifdef TG_CROSSCHECK

#define TG_CROSSCHECKED true    /* so there is no quick way */

/* Who calls, and what. */
void tg_crosscheck_call (const tg_Call *c);

/* The line that the caller is at. */
void tg_crosscheck_line (const tg_Call *c, int line);

/* Where the results of event 'ar' are. */
void tg_crosscheck_results (lua_State *L, lua_Debug *ar,
                            const tg_ValueList *list);

/* Two ways to the bytes of one list. */
void tg_crosscheck_bytes (const uint8_t *a, size_t n, const uint8_t *b,
                          size_t m);

#else
#define TG_CROSSCHECKED false
#define tg_crosscheck_call(c) ((void)0)
#define tg_crosscheck_line(c, line) ((void)0)
#define tg_crosscheck_results(L, ar, list) ((void)0)
#endif

#endif

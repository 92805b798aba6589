/*
** context.h - what a reader that begins here has to know: which coroutines run,
** and how many frames each has open; or which, for one that has missed
** something (writer.h: 'lists').
*/
#ifndef TG_CONTEXT_H
#define TG_CONTEXT_H

#include "stream/writer.h"

/* The 'context' of a session's writer. */
uint8_t *tg_context_write (tg_Writer *r, uint8_t *p, bool *listed);

#endif

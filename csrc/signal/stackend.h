/*
** stackend.h - where a thread's stack of C ends: with the place that it is at,
** what is on that stack can be told from what is not.
*/
#ifndef TG_STACKEND_H
#define TG_STACKEND_H

#include "base/base.h"

/* The address behind the calling thread's stack; 0: it is not known. Not in a
   signal handler. */
uintptr_t tg_stackend (void);

#endif

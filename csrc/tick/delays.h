/*
** delays.h - how long a thread could have run while others had the processor,
** as the kernel counts it (/proc/thread-self/schedstat): since it was put into
** a processor's queue, because it was interrupted or what it waited for had
** come, until it got it.
**
** On its thread, in a signal handler too: to ask is a system call.
*/
#ifndef TG_DELAYS_H
#define TG_DELAYS_H

#include "base/base.h"

typedef struct tg_Delays {
  int fd;                       /* owns; below 0: the kernel does not tell */
} tg_Delays;

/* Of the calling thread; in a forked child anew, where the parent's descriptor
   tells of the parent. */
void tg_delays_open (tg_Delays *d);
void tg_delays_close (tg_Delays *d);

/* Nanoseconds since the thread began, in 'to'. False if that is not told. */
bool tg_delays_ask (const tg_Delays *d, uint64_t *to);

#endif

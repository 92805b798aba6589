/*
** yesterday.c - a wall clock that is a day behind the one by which the kernel
** ends a wait: as if somebody had set it meanwhile. To be preloaded.
*/
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("default")))
int clock_gettime (clockid_t clock, struct timespec *t) {
  int result = (int)syscall(SYS_clock_gettime, clock, t);
  if (result == 0 && clock == CLOCK_REALTIME)
    t->tv_sec -= 24 * 60 * 60;
  return result;
}

/*
** delays.c - see delays.h.
*/
#include "tick/delays.h"

#include <fcntl.h>
#include <unistd.h>

void tg_delays_open (tg_Delays *d) {
  d->fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

void tg_delays_close (tg_Delays *d) {
  if (d->fd >= 0)
    close(d->fd);
  d->fd = -1;
}

/* A number, and where the text goes on behind the character that ends it. NULL:
   there is none, or another character. */
static const char *take_number (const char *p, char end, uint64_t *to) {
  const char *first = p;
  *to = 0;
  for (; *p >= '0' && *p <= '9'; p++)
    *to = 10 * *to + (uint64_t)(*p - '0');
  return p > first && *p == end ? p + 1 : NULL;
}

/* The program may have closed all descriptors, and opened others of the same
   numbers: what does not read as three numbers is none of ours. */
bool tg_delays_ask (const tg_Delays *d, uint64_t *to) {
  char text[72];
  uint64_t ran, slices, delayed;
  ssize_t n = d->fd >= 0 ? pread(d->fd, text, sizeof text - 1, 0) : -1;
  if (n <= 0)
    return false;
  text[n] = '\0';
  const char *p = take_number(text, ' ', &ran);
  if (p == NULL || (p = take_number(p, ' ', &delayed)) == NULL
      || (p = take_number(p, '\n', &slices)) == NULL || *p != '\0')
    return false;
  *to = delayed;
  return true;
}

/*
** inherited.c - see inherited.h. Nothing here fails.
*/
#include "server/inherited.h"

#include <unistd.h>

#define MOST 1024

static struct {
  int fds[MOST];
  int n;
} list;

void tg_inherited_add (int fd) {
  if (list.n < MOST)
    list.fds[list.n++] = fd;
}

void tg_inherited_remove (int fd) {
  for (int i = 0; i < list.n; i++) {
    if (list.fds[i] == fd) {
      list.fds[i] = list.fds[--list.n];
      break;
    }
  }
}

void tg_inherited_forget (void) {
  list.n = 0;
}

void tg_inherited_close (void) {
  for (int i = 0; i < list.n; i++)
    close(list.fds[i]);
  list.n = 0;
}

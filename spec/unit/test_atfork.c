/*
** test_atfork.c - who is told of a fork and of the end of the process, and in
** which order.
*/
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atfork.h"
#include "unit.h"

static char told[64];       /* a letter of each place: B, P, C before it */

static void note (char side, char place) {
  size_t n = strlen(told);
  told[n] = side;
  told[n + 1] = place;
}

static const char side_of[] = {
  [TG_ATFORK_BEFORE] = 'B', [TG_ATFORK_PARENT] = 'P', [TG_ATFORK_CHILD] = 'C'
};

static void sessions_fork (tg_AtFork side) {
  note(side_of[side], 's');
}

static void streams_fork (tg_AtFork side) {
  note(side_of[side], 't');
}

static void own_fork (tg_AtFork side) {
  note(side_of[side], 'o');
}

static int report;          /* where the exit is told to */

static void sessions_exit (void) {
  if (write(report, "s", 1) != 1)
    _exit(2);
}

static void own_exit (void) {
  if (write(report, "o", 1) != 1)
    _exit(2);
}

/* Forks once, with all registered in another order than that of their places;
   the child's exit is reported. */
static void in_order (void) {
  int ends[2], status;
  char exits[8] = "";
  tg_atfork_register(TG_ATFORK_STREAMS, streams_fork, NULL);
  tg_atfork_register(TG_ATFORK_OWN, own_fork, own_exit);
  tg_atfork_register(TG_ATFORK_HOSTS, sessions_fork, sessions_exit);
  tg_atfork_register(TG_ATFORK_HOSTS, sessions_fork, sessions_exit);
  UNIT_CHECK(pipe(ends) == 0);
  report = ends[1];
  pid_t child = fork();
  if (child == 0)
    exit(strcmp(told, "BsBoBtCtCoCs") != 0);
  UNIT_CHECK(strcmp(told, "BsBoBtPtPoPs") == 0);
  UNIT_CHECK(waitpid(child, &status, 0) == child && status == 0);
  UNIT_CHECK(read(ends[0], exits, sizeof exits) == 2);
  UNIT_CHECK(strcmp(exits, "so") == 0);
}

int main (void) {
  UNIT_RUN(in_order);
  return UNIT_END();
}

/*
** command.c - see command.h. Made and freed by either thread.
*/
#include "channel/command.h"

#include "base/alloc.h"
#include "channel/handover.h"

tg_Command *tg_command_new (tg_CommandKind kind, uint64_t id) {
  tg_Command *c = tg_calloc(1, sizeof *c);
  if (c != NULL) {
    c->kind = kind;
    c->id = id;
  }
  return c;
}

void tg_command_free (tg_Command *c) {
  if (c != NULL) {
    tg_options_free(&c->options);
    tg_handover_unpin(c->handover);
    tg_free(c->name);
    tg_free(c);
  }
}

tg_Notice *tg_notice_new (tg_NoticeKind kind, uint64_t id) {
  tg_Notice *n = tg_calloc(1, sizeof *n);
  if (n != NULL) {
    n->kind = kind;
    n->id = id;
  }
  return n;
}

void tg_notice_free (tg_Notice *n) {
  if (n != NULL) {
    tg_options_free(&n->options);
    tg_follower_unpin(n->follower);
    tg_free(n->name);
    tg_free(n);
  }
}

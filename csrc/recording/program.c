/*
** program.c - see program.h.
*/
#include "recording/program.h"

#include <string.h>

#include "base/alloc.h"

/* Copies by way of the bytes of a recording, which have all fields: a copy
   field by field would be one more list of them to keep up. */
static bool copy (tg_Program *to, const tg_Program *from) {
  tg_Buf bytes = {0};
  tg_Entry e;
  tg_Status status = TG_ERR_MEMORY;
  tg_entry_program(&bytes, from);
  const uint8_t *p = (const uint8_t *)bytes.data;
  memset(to, 0, sizeof *to);
  if (!bytes.failed && tg_entry_next(&p, p + bytes.size, &e))
    status = tg_entry_read_program(&e, to);
  tg_buf_free(&bytes);
  return status == TG_OK;
}

tg_Program *tg_program_new (const tg_Program *from) {
  tg_Program *p = tg_calloc(1, sizeof *p);
  if (p != NULL && from != NULL && !copy(p, from)) {
    tg_free(p);
    return NULL;
  }
  if (p != NULL)
    p->pins = 1;
  return p;
}

tg_Program *tg_program_pin (tg_Program *p) {
  p->pins++;
  return p;
}

void tg_program_unpin (tg_Program *p) {
  if (p == NULL || --p->pins > 0)
    return;
  tg_program_free(p);
  tg_free(p);
}

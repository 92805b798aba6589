/*
** models.c - see models.h.
*/
#include "state/models.h"

static void forget (tg_Model *m, const uint8_t *from, const uint8_t *to) {
  for (uint32_t i = 0; i < TG_MODELS; i++) {
    if (m[i].head >= from && m[i].head < to)
      m[i].head = NULL;
  }
}

void tg_models_forget (tg_Models *m, const uint8_t *from, const uint8_t *to) {
  forget(m->places, from, to);
  forget(m->kinds, from, to);
}

/*
** models.c - see models.h.
*/
#include "state/models.h"

uint64_t tg_models_text (const char *s, size_t n) {
  uint64_t h = n;
  if (n == 0)
    return h;
  for (size_t i = 0; i + 8 < n; i += 8)
    h = tg_seen_mix(h, tg_read64(s, i));
  return tg_seen_mix(h, tg_read64(s, n - 8));
}

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

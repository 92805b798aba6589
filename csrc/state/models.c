/*
** models.c - see models.h.
*/
#include "state/models.h"

/* All bits of a word change the upper half of such a product, and then the
   lower one. */
static uint64_t mix (uint64_t h, uint64_t word) {
  h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return h ^ h >> 32;
}

/* The last word may have bytes of the one before it, or of what is before the
   text. */
uint64_t tg_models_text (const char *s, size_t n) {
  uint64_t h = mix(0, n);
  if (n == 0)
    return h;
  for (size_t i = 0; i + 8 < n; i += 8)
    h = mix(h, tg_read64(s, i));
  return mix(h, tg_read64(s, n - 8));
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

/*
** halves.h - a request of OTLP as two, for a collector that takes only
** smaller ones. What the spans have in common is in both.
*/
#ifndef TG_OTLPHALVES_H
#define TG_OTLPHALVES_H

#include "formats/otlp/batch.h"

typedef struct tg_OtlpHalf {
  tg_Buf body;            /* owns; refused memory shows here */
  uint32_t count;         /* spans in it */
} tg_OtlpHalf;

/* The first half of the spans and the rest of them. False: 'request' has less
   than two, or is none that batch.h writes. */
bool tg_otlp_halve (const tg_OtlpEncoding *encoding, const void *request,
                    size_t size, tg_OtlpHalf halves[2]);

/* Zeroed memory is fine. */
void tg_otlphalves_free (tg_OtlpHalf halves[2]);

#endif

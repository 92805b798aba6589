/*
** samples.h - the samples of a track, put aside in a few bytes each.
**
** A sample is three numbers: since when, which stack, what tag. How far each is
** from that of the sample before takes a byte or two mostly. They are read back
** once for each column of a document.
*/
#ifndef TG_SAMPLES_H
#define TG_SAMPLES_H

#include "base/digits.h"
#include "formats/firefox/tracks.h"

/* Tags of spans, beside the places of arguments and TG_TAG_NONE. */
#define TG_TAG_EMPTY (UINT32_MAX - 1)     /* a call without arguments */
#define TG_TAG_MISSING (UINT32_MAX - 2)   /* there was no room for them */

/* A sample, read back. */
typedef struct tg_Sample {
  uint64_t ns, until_ns;  /* the last one ends where it begins */
  uint32_t stack, tag;
} tg_Sample;

/* The next sample of a track; in order of time. */
void tg_samples_put (tg_Spool *spool, tg_Track *track, uint64_t ns,
                     uint32_t stack, uint32_t tag);

/* What a column has of a sample, straight into memory: up to TG_DIGITS bytes;
   returns where they end. */
typedef char *tg_SampleField (char *p, const tg_Sample *s);

/* The column of all samples of a track, with commas; false if the spool or
   'out' fails. */
bool tg_samples_write (tg_Spool *spool, const tg_Track *track,
                       tg_SampleField *field, tg_OutFile *out);

#endif

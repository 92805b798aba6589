/*
** samples.h - the samples of a track, put aside until they can be written.
**
** They are kept as they are and not in fewer bytes: they are read back once for
** each column of a document, and to read them costs less than to write them.
*/
#ifndef TG_SAMPLES_H
#define TG_SAMPLES_H

#include "base/digits.h"
#include "formats/firefox/tracks.h"

/* Tags of spans, beside the places of arguments and TG_TAG_NONE. */
#define TG_TAG_EMPTY (UINT32_MAX - 1)     /* a call without arguments */
#define TG_TAG_MISSING (UINT32_MAX - 2)   /* there was no room for them */

typedef struct tg_Sample {
  uint64_t ns;
  uint64_t length_ns;       /* of its span */
  uint32_t stack, tag;
  uint32_t whole;           /* stack of the first track then; TG_STACK_NONE: it
                               weighs as much as it is long */
} tg_Sample;

/* The next sample of a track; in order of time. */
void tg_samples_put (tg_Spool *spool, tg_Track *track, const tg_Sample *s);

/* What a column has of a sample that weighs so much, straight into memory: up
   to TG_DIGITS bytes; returns where they end. On any thread. */
typedef char *tg_SampleField (char *p, const tg_Sample *s, uint64_t weight_ns);

/*
** The array of all samples of a track; false if the spool or the output fails.
**
** The viewer's graph gives each sample the time from half way to the one before
** to half way to the next. So a span that is longer than 'long_ns' has its
** stack, or none, once more at its end, without a length: else half of it would
** be drawn as what comes next. 'rows' gets the number of all.
*/
bool tg_samples_write (tg_Tracks *t, const tg_Track *track, uint64_t long_ns,
                       tg_SampleField *field, uint64_t *rows);

#endif

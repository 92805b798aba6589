/*
** output.h - a document on its way to a file, as it is written.
**
** Whoever writes adds to 'text' and calls tg_output_turn now and then, which
** sends it off when there is enough of it. The path "-" is standard output; a
** name that ends in ".gz" is compressed. The first thing that fails is kept:
** after it nothing is written, and tg_output_close says what it was.
*/
#ifndef TG_OUTPUT_H
#define TG_OUTPUT_H

#include "base/base.h"
#include "base/buf.h"

typedef struct tg_Output {
  tg_Buf text;            /* owns; not yet written */
  struct tg_OutputFile *file;  /* owns */
  uint64_t bytes;         /* given so far, before compression */
  int error;              /* errno of what failed; 0 = nothing */
} tg_Output;

/* False with errno if the file cannot be had. */
bool tg_output_open (tg_Output *o, const char *path);

/* Writes 'text' if it has become long; false if anything has failed so far. */
bool tg_output_turn (tg_Output *o);

/* Writes 'text', however short it is. */
bool tg_output_flush (tg_Output *o);

/* Writes the rest and closes; false with errno if anything has failed. */
bool tg_output_close (tg_Output *o);

#endif

/*
** outfile.h - a document on its way to a file, as it is written.
**
** Whoever writes adds to 'text' and calls tg_outfile_turn now and then, which
** sends it off when there is enough of it. The path "-" is standard output; a
** name that ends in ".gz" is compressed. The first thing that fails is kept:
** after it nothing is written, and tg_outfile_close says what it was.
*/
#ifndef TG_OUTFILE_H
#define TG_OUTFILE_H

#include "base/base.h"
#include "base/buf.h"

typedef struct tg_OutFile {
  tg_Buf text;            /* owns; not yet written */
  struct tg_OutputFile *file;  /* owns */
  uint64_t bytes;         /* given so far, before compression */
  int error;              /* errno of what failed; 0 = nothing */
} tg_OutFile;

/* False with errno if the file cannot be had. */
bool tg_outfile_open (tg_OutFile *o, const char *path);

/* Writes 'text' if it has become long; false if anything has failed so far. */
bool tg_outfile_turn (tg_OutFile *o);

/* Writes 'text', however short it is. */
bool tg_outfile_flush (tg_OutFile *o);

/* Writes the rest and closes; false with errno if anything has failed. */
bool tg_outfile_close (tg_OutFile *o);

#endif

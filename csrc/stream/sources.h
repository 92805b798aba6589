/*
** sources.h - the text of the sources that a stream's functions are from.
**
** A recording may have them; opening it notes where (they can be long). While
** the program runs, a string chunk's text is in its definition, and a file is
** read if it has not been changed since tracing began. Never a file that only a
** recording names: it may come from anywhere, and say any name.
**
** Plain C, one thread.
*/
#ifndef TG_SOURCES_H
#define TG_SOURCES_H

#include "base/base.h"
#include "base/buf.h"
#include "stream/functions.h"

typedef struct tg_SourcePlace {
  char *url;              /* owns */
  uint64_t place;         /* of the text in the file */
  uint32_t size;
} tg_SourcePlace;

typedef struct tg_Sources {
  int fd;                 /* owns */
  tg_SourcePlace *list;    /* owns */
  uint32_t count, capacity;
} tg_Sources;

/* Notes where in the file 'fd' a text is, in '*s', which is made if it is NULL.
   False without memory or descriptors. */
bool tg_sources_note (tg_Sources **s, int fd, tg_Slice url, uint64_t place,
                      size_t size);

void tg_sources_free (tg_Sources *s);           /* NULL is fine */

/* Adds the text of the source that 'url' names to 'text': as a recording has it
   ('s', may be NULL), else that of the running program, whose functions these
   are and whose files may be no younger than 'wall_ns'. False if it cannot be
   had. */
bool tg_sources_text (const tg_Sources *s, const tg_Functions *functions,
                      uint64_t wall_ns, const char *url, tg_Buf *text);

/* What became of a file's text. */
typedef enum tg_SourceFile {
  TG_SOURCE_READ,
  TG_SOURCE_ABSENT,       /* there is no such file, or it is too large */
  TG_SOURCE_CHANGED       /* it is younger, or shorter than 'last_line' says */
} tg_SourceFile;

/* Adds the text of the file at 'path', which may be no younger than 'wall_ns'
   and has 'last_line' lines or more. For whoever shows it to the user alone: a
   recording may name any file. */
tg_SourceFile tg_sources_file (const char *path, uint64_t wall_ns,
                               uint32_t last_line, tg_Buf *text);

#endif

/*
** document.h - a dump as a document: JSON, or Lua tables. Plain C.
*/
#ifndef TG_DUMP_DOCUMENT_H
#define TG_DUMP_DOCUMENT_H

#include "dump/dump.h"
#include "packet/grips.h"

/* All of it. 'scratch' is the caller's, since a sink may raise. */
void tg_document_write (const tg_Dump *d, tg_Sink *out, tg_Scratch *scratch);

#endif

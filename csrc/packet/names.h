/*
** names.h - what packets, descriptors and reports say of a function.
**
** Where a name has to be rebuilt to be text (tg_sink_text), it is in 'room', a
** buffer of the caller's.
*/
#ifndef TG_NAMES_H
#define TG_NAMES_H

#include "base/buf.h"
#include "stream/functions.h"
#include "text/sink.h"

/* The name of a function, which may be NULL. */
void tg_names_function (tg_Sink *out, tg_Buf *room, const tg_Function *f);

/* The same for people: a C function that has no name by its symbol. */
void tg_names_title (tg_Sink *out, tg_Buf *room, const tg_Function *f);

/* An array of the parameters' names, "..." for any further ones. */
void tg_names_params (tg_Sink *out, tg_Buf *room, const tg_Function *f);

/* The keys url and line of a definition; C functions have no line. */
void tg_names_place (tg_Sink *out, tg_Buf *room, const tg_Function *f);

#endif

/*
** values.h - what spans are told by the values of packets: the header that
** says below whose span a request hangs, and an error as the conventions of
** OpenTelemetry have it.
**
** Plain C, any thread; bytes may be malformed, and what cannot be read is not
** there.
*/
#ifndef TG_OTLPVALUES_H
#define TG_OTLPVALUES_H

#include "packet/lualiteral.h"
#include "stream/values.h"
#include "text/traceparent.h"

/*
** The first W3C header among the arguments of a call: an argument that is one,
** or what a table has under the key "traceparent", whatever its case, as deep
** as tables were recorded.
*/
bool tg_otlpvalues_parent (tg_Slice values, tg_SpanContext *out);

/* An error that was thrown, its texts in '*out'. */
typedef struct tg_OtlpError {
  tg_Buf message;       /* owns, as the next */
  tg_Buf type;
} tg_OtlpError;

/*
** A string is its own message; anything else is a literal of Lua, or, if
** 'values' are not to be told, its type. The type is Lua's, or the name that a
** metatable gives.
*/
void tg_otlpvalues_error (tg_OtlpError *out, tg_LuaLiteral *literal,
                          tg_Slice thrown, bool values);

void tg_otlpvalues_free (tg_OtlpError *e);      /* zeroed memory is fine */

#endif

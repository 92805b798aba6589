/*
** livespans.h - the calls of a trace that is still running as spans: requests
** of OTLP, each as soon as it is full or wanted.
**
** It reads a stream as far as it has come, whenever it is asked for the next
** request, so nothing that was read need be kept: memory is the calls that are
** open or wait, and one request.
*/
#ifndef TG_LIVESPANS_H
#define TG_LIVESPANS_H

#include "binding/lx.h"
#include "formats/otlp/spans.h"
#include "options/options.h"
#include "options/selection.h"
#include "reader/reader.h"

typedef struct tg_LiveSpans {
  tg_Reader *reader;        /* owns; NULL: not begun, or no memory */
  tg_Selection selection;   /* owns */
  tg_LuaLiteral literal;    /* owns */
  tg_OtlpSpans spans;       /* owns, as the following */
  tg_OtlpBatch batch;
  tg_Buf out;               /* the request that is written */
  tg_Buf packed;            /* the same, compressed; if it is wanted: */
  bool gzip;
  tg_Buf missing;
  tg_Patterns requests;     /* owns */
  tg_Undecided undecided;   /* functions, by these */
  char **words;             /* owns each; scope, then keys and values */
  uint32_t nwords, cwords;
  tg_ThreadId *gone;        /* owns; suspended coroutines that will not come
                               back, of which the last one... */
  uint32_t ngone, cgone;
  uint32_t level;           /* ...has calls from this level on */
  uint32_t pid;
  uint64_t lost;            /* events so far; for the owner to set */
  bool on;                  /* spans were asked for */
} tg_LiveSpans;

/*
** How they are to be written, from the table at 'i':
**   encoding     "protobuf" or "json"
**   gzip         whether requests are compressed
**   scope        whose spans they are: the trace's name
**   resource     list of keys and values, one after the other
**   request      patterns of functions whose calls are requests; may be nil
**   arguments    true: arguments and results are told too
** Raises what is wrong with it, or want of memory.
*/
void tg_livespans_want (tg_LiveSpans *p, lua_State *L, int i); /* [-0, +0, v] */

/* Of 'stream' from its beginning on, as 'options' narrow it. False without
   memory. */
bool tg_livespans_begin (tg_LiveSpans *p, tg_Stream *stream,
                         const tg_Options *options);
void tg_livespans_free (tg_LiveSpans *p);       /* zeroed memory is fine */

/* The next request, and how many spans are in it; 0: there is none. 'all': also
   one that is not full. 'over': nothing more will come, so calls that have not
   ended are given as they are. */
uint32_t tg_livespans_next (tg_LiveSpans *p, tg_Pos end, bool all, bool over,
                            tg_Slice *request);

/* TG_OK, or why no more spans will come. */
tg_Status tg_livespans_status (const tg_LiveSpans *p);

#endif

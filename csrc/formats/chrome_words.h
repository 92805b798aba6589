/*
** chrome_words.h - what trace events say of a function, put together once:
**
**     "name":...,"cat":...,"args":{"source":"url:line"
**
** Plain C, one thread. Memory: functions.
*/
#ifndef TG_CHROME_WORDS_H
#define TG_CHROME_WORDS_H

#include "base/buf.h"
#include "stream/function.h"

typedef struct tg_ChromeWord {
  size_t at;                  /* where it is */
  uint32_t size;              /* 0: not yet put together */
  uint32_t url, url_size;     /* where in it the url is */
} tg_ChromeWord;

typedef struct tg_ChromeWords {
  const tg_Functions *functions;  /* borrows */
  /* private */
  tg_ChromeWord *list;        /* owns; by function id */
  uint32_t capacity;
  tg_Buf text;                /* owns */
} tg_ChromeWords;

/* Both add to 'out'; false without memory. Unknown functions are anonymous. */
bool tg_chrome_words_put (tg_ChromeWords *w, tg_FunctionId id, tg_Buf *out);

/* A line of the function: url:line" */
bool tg_chrome_words_place (tg_ChromeWords *w, tg_FunctionId id,
                            uint32_t line, tg_Buf *out);

void tg_chrome_words_free (tg_ChromeWords *w);

#endif

/*
** htmlfacts.h - what the page of "export html" says of a recording beside its
** calls: what it is of, functions with their rows of the report, coroutines,
** what is missing and what was filtered. A script of JSON.
*/
#ifndef TG_HTMLFACTS_H
#define TG_HTMLFACTS_H

#include "formats/htmlsums.h"

/* Adds it to the document, when all of it is known: after the last packet.
   'boxes' is how many frames the document enters. Memory that is refused shows
   in the output's text. */
void tg_htmlfacts_put (tg_Export *x, const tg_HtmlSums *sums, uint64_t boxes);

#endif

/*
** formats.h - the table of formats, and the function of each that stands here.
** Those of one family of viewers have a folder: chrome/, firefox/, otlp/.
*/
#ifndef TG_FORMATS_H
#define TG_FORMATS_H

#include "export/export.h"

tg_Status tg_format_folded (tg_Export *x);
tg_Status tg_format_html (tg_Export *x);
tg_Status tg_format_speedscope (tg_Export *x);
tg_Status tg_format_packets (tg_Export *x);
tg_Status tg_format_pprof (tg_Export *x);

/* The table, ended by one without a name. */
extern const tg_Format tg_formats[];

/* What can be done with each batch of packets by itself. */
tg_BatchWork tg_packets_work;

#endif

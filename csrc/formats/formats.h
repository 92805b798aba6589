/*
** formats.h - the table of formats, and the function of each that stands here
** (those of the Firefox Profiler are in firefox/firefox.h).
*/
#ifndef TG_FORMATS_H
#define TG_FORMATS_H

#include "export/export.h"

tg_Status tg_format_chrome (tg_Export *x);
tg_Status tg_format_cpuprofile (tg_Export *x);
tg_Status tg_format_folded (tg_Export *x);
tg_Status tg_format_html (tg_Export *x);
tg_Status tg_format_otlp (tg_Export *x);
tg_Status tg_format_speedscope (tg_Export *x);
tg_Status tg_format_packets (tg_Export *x);
tg_Status tg_format_pprof (tg_Export *x);

/* The table, ended by one without a name. */
extern const tg_Format tg_formats[];

/* What of them can be done with each batch by itself. */
tg_BatchWork tg_chromevalues_work;
tg_BatchWork tg_packets_work;

#endif

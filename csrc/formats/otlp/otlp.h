/*
** otlp.h - OpenTelemetry's format, as the table has it.
*/
#ifndef TG_OTLP_H
#define TG_OTLP_H

#include "export/export.h"

tg_Status tg_format_otlp (tg_Export *x);

#endif

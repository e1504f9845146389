/* The order of rows by time. Internal to order.c and group.c. */
#ifndef MRD_INGEST_EVENT_PARQUET_ORDER_H
#define MRD_INGEST_EVENT_PARQUET_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Row of each rank, owned, or NULL where the rows are in time order as they stand. */
uint32_t *mrd__order_by_time(const double *time, size_t rows, uint32_t workers);

#endif

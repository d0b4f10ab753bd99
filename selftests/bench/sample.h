/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

/* Look where this thread is in the kernel, about once in each packet, from now on. */
void sample_start(void);

/* Print a line "sample ADDRESS" for each time, in hexadecimal. */
void sample_stop(void);

#endif /* BENCH_SAMPLE_H */

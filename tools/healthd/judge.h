/* SPDX-License-Identifier: GPL-2.0 */
/* Results of probes -> up or down (semantics 5.1). Pure. */
#ifndef WEIR_JUDGE_H
#define WEIR_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: nothing is known. */
struct weir_judge {
	uint8_t state;		/* enum weir_health; AUTO: not known yet */
	bool passed;		/* what the last probe came to, */
	uint32_t run;		/* and how many in a row did; 0: none yet */
};

/* One more result. So many in a row make it up, or down. True if the state changed. */
bool weir_judge_take(struct weir_judge *judge, bool passed, uint32_t healthy,
		     uint32_t unhealthy);

#endif

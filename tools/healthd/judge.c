// SPDX-License-Identifier: GPL-2.0
#include <linux/weir.h>

#include "judge.h"

bool weir_judge_take(struct weir_judge *judge, bool passed, uint32_t healthy,
		     uint32_t unhealthy)
{
	uint8_t next = passed ? WEIR_HEALTH_UP : WEIR_HEALTH_DOWN;

	if (judge->passed != passed)
		judge->run = 0;
	judge->passed = passed;
	if (judge->run < UINT32_MAX)
		judge->run++;
	if (judge->state == next ||
	    judge->run < (passed ? healthy : unhealthy))
		return false;
	judge->state = next;
	return true;
}

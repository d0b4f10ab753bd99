// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on purpose, one per load: the test of the debug kernels loads this
 * module and expects each kernel to catch what it is there for. Never part of
 * weir; only planted/check builds it.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *fault = "none";
module_param(fault, charp, 0444);
MODULE_PARM_DESC(fault, "which fault to commit");

struct thing {
	struct timer_list timer;
	int value;
};

static DEFINE_SPINLOCK(first);
static DEFINE_SPINLOCK(second);
static DEFINE_MUTEX(sleeper);
static struct thing __rcu *published;

/* Read where the compiler cannot see that it is wrong. */
static noinline int value_of(struct thing *t)
{
	return READ_ONCE(t->value);
}

static void use_after_free(void)
{
	struct thing *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return;
	kfree(t);
	pr_info("value %d\n", value_of(t));
}

static void sleep_under_spinlock(void)
{
	spin_lock(&first);
	mutex_lock(&sleeper);
	mutex_unlock(&sleeper);
	spin_unlock(&first);
}

static void leak(void)
{
	struct thing *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (t)
		WRITE_ONCE(t->value, 1);
}

/* No deadlock here, but two CPUs could make one of it. */
static void lock_order(void)
{
	spin_lock(&first);
	spin_lock(&second);
	spin_unlock(&second);
	spin_unlock(&first);
	spin_lock(&second);
	spin_lock(&first);
	spin_unlock(&first);
	spin_unlock(&second);
}

static void rcu_outside(void)
{
	pr_info("published: %d\n", !!rcu_dereference(published));
}

static void nothing(struct timer_list *timer)
{
}

static void free_active_timer(void)
{
	struct thing *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return;
	timer_setup(&t->timer, nothing, 0);
	mod_timer(&t->timer, jiffies + 3600 * HZ);
	kfree(t);
}

static void shift_too_far(void)
{
	int by = value_of(&(struct thing){ .value = 33 });

	pr_info("shifted: %d\n", 1 << by);
}

static void warn(void)
{
	WARN_ON(1);
}

static void none(void)
{
	struct thing *t = kzalloc(sizeof(*t), GFP_KERNEL);

	kfree(t);
}

static const struct {
	const char *name;
	void (*commit)(void);
} faults[] = {
	{ "use-after-free", use_after_free },
	{ "sleep-under-spinlock", sleep_under_spinlock },
	{ "leak", leak },
	{ "lock-order", lock_order },
	{ "rcu-outside", rcu_outside },
	{ "free-active-timer", free_active_timer },
	{ "shift-too-far", shift_too_far },
	{ "warn", warn },
	{ "none", none },
};

static int __init planted_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (strcmp(fault, faults[i].name))
			continue;
		pr_info("committing %s\n", fault);
		faults[i].commit();
		return 0;
	}
	return -EINVAL;
}

static void __exit planted_exit(void)
{
}

module_init(planted_init);
module_exit(planted_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("faults on purpose, for the test of the debug kernels");

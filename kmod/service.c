// SPDX-License-Identifier: GPL-2.0
/*
 * service - what an operator configures: options, rules, groups and backends
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>

#include "dest.h"
#include "service.h"
#include "set.h"

void weir_options_default(struct weir_options *opt)
{
	memset(opt, 0, sizeof(*opt));
	opt->hairpin = 1;
	opt->drain_on_failover = 1;
	opt->idle_timeout = WEIR_IDLE_MAX;
}

bool weir_name_ok(const char *name)
{
	size_t i, len = strlen(name);

	if (!len || len > WEIR_NAME_MAX)
		return false;
	for (i = 0; i < len; i++)
		if (!isascii(name[i]) ||
		    (!isalnum(name[i]) && !strchr("._-", name[i])))
			return false;
	return true;
}

const char *weir_addr_text(char buf[WEIR_ADDR_TEXT], u8 family,
			   const struct weir_addr *addr)
{
	if (family == AF_INET)
		snprintf(buf, WEIR_ADDR_TEXT, "%pI4", &addr->ip);
	else
		snprintf(buf, WEIR_ADDR_TEXT, "%pI6c", addr->ip6);
	return buf;
}

void *weir_grow(void *array, u32 nr, u32 *max, size_t size)
{
	u32 room = max(4U, nr + nr / 2);
	void *bigger;

	if (nr < *max)
		return array;
	bigger = kvcalloc(room, size, GFP_KERNEL_ACCOUNT);
	if (!bigger)
		return NULL;
	if (nr)
		memcpy(bigger, array, nr * size);
	kvfree(array);
	*max = room;
	return bigger;
}

struct weir_service *weir_service_alloc(const char *name)
{
	struct weir_service *svc;

	svc = kzalloc(sizeof(*svc), GFP_KERNEL_ACCOUNT);
	if (!svc)
		return NULL;
	refcount_set(&svc->ref, 1);
	strscpy(svc->name, name, sizeof(svc->name));
	weir_options_default(&svc->opt);
	return svc;
}

void weir_service_put(struct weir_service *svc)
{
	u32 i;

	if (!svc || !refcount_dec_and_test(&svc->ref))
		return;
	for (i = 0; i < svc->nr_rules; i++)
		kfree(svc->rules[i].ports);
	for (i = 0; i < svc->nr_backends; i++)
		weir_dest_put(svc->backends[i].dest);
	weir_owner_put(svc->owner);
	weir_sets_free(svc);
	kvfree(svc->rules);
	kvfree(svc->groups);
	kvfree(svc->backends);
	kvfree(svc->ended);
	kvfree(svc->sources);
	kfree(svc->health_check);
	kfree(svc);
}

static void *dup_array(const void *array, u32 nr, u32 *max, size_t size)
{
	void *copy;

	*max = 0;
	if (!nr)
		return NULL;
	copy = kvcalloc(nr, size, GFP_KERNEL_ACCOUNT);
	if (!copy)
		return NULL;
	memcpy(copy, array, nr * size);
	*max = nr;
	return copy;
}

static bool clone_rules(struct weir_service *svc,
			const struct weir_service *old)
{
	u32 i;

	svc->rules = dup_array(old->rules, old->nr_rules, &svc->max_rules,
			       sizeof(*svc->rules));
	if (old->nr_rules && !svc->rules)
		return false;
	for (i = 0; i < old->nr_rules; i++) {
		struct weir_rule *rule = &svc->rules[i];

		if (rule->nr_ports) {
			rule->ports = kmemdup(old->rules[i].ports,
					      rule->nr_ports * sizeof(u16),
					      GFP_KERNEL_ACCOUNT);
			if (!rule->ports)
				return false;
		}
		svc->nr_rules = i + 1;
	}
	return true;
}

static bool clone_members(struct weir_service *svc,
			  const struct weir_service *old)
{
	u32 i;

	svc->groups = dup_array(old->groups, old->nr_groups, &svc->max_groups,
				sizeof(*svc->groups));
	if (old->nr_groups && !svc->groups)
		return false;
	svc->nr_groups = old->nr_groups;

	svc->backends = dup_array(old->backends, old->nr_backends,
				  &svc->max_backends, sizeof(*svc->backends));
	if (old->nr_backends && !svc->backends)
		return false;
	svc->nr_backends = old->nr_backends;
	for (i = 0; i < svc->nr_backends; i++)
		if (svc->backends[i].dest)
			weir_dest_get(svc->backends[i].dest);
	return true;
}

struct weir_service *weir_service_clone(const struct weir_service *old)
{
	struct weir_service *svc = weir_service_alloc(old->name);

	if (!svc)
		return NULL;
	svc->family = old->family;
	svc->opt = old->opt;
	if (old->owner) {
		svc->owner = old->owner;
		weir_owner_get(svc->owner);
	}
	if (old->health_check) {
		svc->health_check = kstrdup(old->health_check,
					    GFP_KERNEL_ACCOUNT);
		if (!svc->health_check)
			goto err;
	}
	if (!clone_rules(svc, old) || !clone_members(svc, old))
		goto err;
	return svc;
err:
	weir_service_put(svc);
	return NULL;
}

void weir_service_set_family(struct weir_service *svc)
{
	u32 i;

	svc->family = AF_UNSPEC;
	if (svc->nr_rules)
		svc->family = svc->rules[0].family;
	for (i = 0; !svc->family && i < svc->nr_backends; i++)
		if (!svc->backends[i].draining)
			svc->family = svc->backends[i].family;
}

static bool same_health_check(const struct weir_service *a,
			      const struct weir_service *b)
{
	if (!a->health_check || !b->health_check)
		return a->health_check == b->health_check;
	return !strcmp(a->health_check, b->health_check);
}

static bool same_rules(const struct weir_service *a,
		       const struct weir_service *b)
{
	u32 i;

	if (a->nr_rules != b->nr_rules)
		return false;
	/* Both are in the order of weir_rule_add(). */
	for (i = 0; i < a->nr_rules; i++)
		if (!weir_rule_equal(&a->rules[i], &b->rules[i]))
			return false;
	return true;
}

static bool same_groups(const struct weir_service *a,
			const struct weir_service *b)
{
	u32 i;

	if (a->nr_groups != b->nr_groups)
		return false;
	for (i = 0; i < a->nr_groups; i++) {
		const struct weir_group *other =
			weir_group_find(b, a->groups[i].name);

		if (!other || strcmp(other->zone, a->groups[i].zone) ||
		    other->failover != a->groups[i].failover)
			return false;
	}
	return true;
}

bool weir_service_equal(const struct weir_service *a,
			const struct weir_service *b)
{
	u32 i;

	if (memcmp(&a->opt, &b->opt, sizeof(a->opt)) ||
	    !same_health_check(a, b) || a->nr_backends != b->nr_backends ||
	    !same_rules(a, b) || !same_groups(a, b))
		return false;
	for (i = 0; i < a->nr_backends; i++) {
		const struct weir_backend *other =
			weir_backend_find(b, &a->backends[i].addr,
					  a->backends[i].family);

		if (!other || !weir_backend_equal(&a->backends[i], other))
			return false;
	}
	return true;
}

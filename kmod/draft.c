// SPDX-License-Identifier: GPL-2.0
/*
 * draft - a configuration that is being written
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "config.h"
#include "direct.h"
#include "draft.h"
#include "finish.h"
#include "hook.h"
#include "netns.h"
#include "refuse.h"
#include "zones.h"

struct weir_draft {
	struct weir_net *wn;
	u32 base;			/* generation that it started from, */
	u32 edition;			/* and edition */
	bool keep_edition;
	bool only_results;
	bool rekey;
	siphash_key_t key;
	u32 nr, max;
	struct weir_service **services;	/* ascending by name */
	struct weir_zones *zones;	/* NULL: none */
};

static const struct weir_config *live(const struct weir_draft *draft)
{
	return rcu_dereference_protected(draft->wn->config,
					 lockdep_is_held(&draft->wn->lock));
}

struct weir_draft *weir_draft_new(struct weir_net *wn, bool replace)
{
	struct weir_draft *draft = kzalloc(sizeof(*draft), GFP_KERNEL_ACCOUNT);
	const struct weir_config *cfg;
	u32 i;

	if (!draft)
		return NULL;
	draft->wn = wn;
	cfg = live(draft);
	draft->base = cfg->generation;
	draft->edition = cfg->edition;
	draft->key = cfg->key;
	if (replace)
		return draft;
	draft->zones = cfg->zones;
	if (draft->zones)
		refcount_inc(&draft->zones->ref);
	if (!cfg->nr_services)
		return draft;

	draft->services = kvmalloc_array(cfg->nr_services,
					 sizeof(*draft->services),
					 GFP_KERNEL_ACCOUNT);
	if (!draft->services) {
		weir_draft_free(draft);
		return NULL;
	}
	draft->nr = cfg->nr_services;
	draft->max = cfg->nr_services;
	for (i = 0; i < draft->nr; i++) {
		draft->services[i] = cfg->services[i];
		refcount_inc(&draft->services[i]->ref);
	}
	return draft;
}

void weir_draft_free(struct weir_draft *draft)
{
	u32 i;

	if (!draft)
		return;
	for (i = 0; i < draft->nr; i++)
		weir_service_put(draft->services[i]);
	kvfree(draft->services);
	weir_zones_put(draft->zones);
	kfree_sensitive(draft);
}

/* The place of @name, or where it would be inserted. */
static bool find(const struct weir_draft *draft, const char *name, u32 *at)
{
	u32 low = 0, high = draft->nr;

	/* Whole files come sorted: the last one is asked for most. */
	if (high && strcmp(draft->services[high - 1]->name, name) < 0) {
		*at = high;
		return false;
	}
	while (low < high) {
		u32 middle = low + (high - low) / 2;
		int cmp = strcmp(draft->services[middle]->name, name);

		if (!cmp) {
			*at = middle;
			return true;
		}
		if (cmp < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*at = low;
	return false;
}

struct weir_service *weir_draft_add(struct weir_draft *draft, const char *name,
				    struct netlink_ext_ack *extack)
{
	struct weir_service *svc, **services;
	u32 at;

	if (!weir_name_ok(name))
		return ERR_PTR(weir_refuse(extack, -EINVAL,
					   "service name: 1 to 31 of letters, digits, '.', '_', '-'"));
	if (find(draft, name, &at))
		return ERR_PTR(weir_refuse(extack, -EEXIST,
					   "service %s: it is there already; weir service set changes it",
					   name));
	services = weir_grow(draft->services, draft->nr, &draft->max,
			     sizeof(*services));
	if (!services)
		return ERR_PTR(-ENOMEM);
	draft->services = services;
	svc = weir_service_alloc(name);
	if (!svc)
		return ERR_PTR(-ENOMEM);
	memmove(&services[at + 1], &services[at],
		(draft->nr - at) * sizeof(*services));
	services[at] = svc;
	draft->nr++;
	return svc;
}

/* A service that a configuration has as well is copied first. */
static struct weir_service *make_private(struct weir_draft *draft, u32 at)
{
	struct weir_service *svc = draft->services[at];

	if (!svc->published)
		return svc;
	svc = weir_service_clone(svc);
	if (!svc)
		return ERR_PTR(-ENOMEM);
	weir_service_put(draft->services[at]);
	draft->services[at] = svc;
	return svc;
}

static int no_service(const char *name, struct netlink_ext_ack *extack)
{
	return weir_refuse(extack, -ENOENT,
			   "service %s: there is none; weir service add %s makes it",
			   name, name);
}

struct weir_service *weir_draft_edit(struct weir_draft *draft, const char *name,
				     struct netlink_ext_ack *extack)
{
	u32 at;

	if (!find(draft, name, &at))
		return ERR_PTR(no_service(name, extack));
	return make_private(draft, at);
}

int weir_draft_del(struct weir_draft *draft, const char *name,
		   struct netlink_ext_ack *extack)
{
	u32 at;

	if (!find(draft, name, &at))
		return no_service(name, extack);
	weir_service_put(draft->services[at]);
	draft->nr--;
	memmove(&draft->services[at], &draft->services[at + 1],
		(draft->nr - at) * sizeof(*draft->services));
	return 0;
}

struct weir_zones *weir_draft_zones(struct weir_draft *draft)
{
	struct weir_zones *zones = draft->zones;

	if (zones && !zones->published)
		return zones;
	zones = weir_zones_clone(draft->zones);
	if (!zones)
		return ERR_PTR(-ENOMEM);
	weir_zones_put(draft->zones);
	draft->zones = zones;
	return zones;
}

void weir_draft_keep_edition(struct weir_draft *draft)
{
	draft->keep_edition = true;
}

void weir_draft_only_results(struct weir_draft *draft)
{
	draft->keep_edition = true;
	draft->only_results = true;
}

void weir_draft_set_key(struct weir_draft *draft, const u8 *key)
{
	siphash_key_t old = draft->key;

	weir_key_read(&draft->key, key);
	if (memcmp(&old, &draft->key, sizeof(old)))
		draft->rekey = true;
}

/* None is no object. */
static int finish_zones(struct weir_draft *draft, struct netlink_ext_ack *extack)
{
	struct weir_zones *zones = draft->zones;

	if (!zones || zones->published)
		return 0;
	if (zones->nr)
		return weir_zones_finish(zones, extack);
	draft->zones = NULL;
	weir_zones_put(zones);
	return 0;
}

/* Derive what is not configured; keep the live object where nothing differs. */
static int finish_services(struct weir_draft *draft,
			   struct netlink_ext_ack *extack)
{
	u32 i;
	int err;

	for (i = 0; i < draft->nr; i++) {
		struct weir_service *svc = draft->services[i];
		struct weir_service *was =
			weir_config_counterpart(live(draft), svc, i);

		if (svc == was && !draft->rekey)
			continue;
		svc = make_private(draft, i);
		if (IS_ERR(svc))
			return PTR_ERR(svc);
		err = was ? weir_finish_inherit(svc, was) : 0;
		if (err)
			return err;
		if (was && !draft->rekey && weir_service_equal(svc, was)) {
			refcount_inc(&was->ref);
			weir_service_put(svc);
			draft->services[i] = was;
			continue;
		}
		err = weir_finish(draft->wn, svc, draft->rekey ? NULL : was,
				  &draft->key, extack);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

static int refuse_clash(const struct weir_match clash[2],
			struct netlink_ext_ack *extack)
{
	char vip[WEIR_ADDR_TEXT];

	return weir_refuse(extack, -EEXIST,
			   "service %s: rule %s: service %s has a rule for the same packets; del that one first",
			   clash[1].service->name,
			   weir_addr_text(vip, clash[1].rule->family,
					  &clash[1].rule->vip),
			   clash[0].service->name);
}

/* Results come or go with no object, but what has drained meanwhile is gone. */
static bool keeps_layout(const struct weir_draft *draft)
{
	u32 s;

	for (s = 0; s < draft->nr && draft->only_results; s++) {
		const struct weir_service *svc = draft->services[s];
		const struct weir_service *was =
			weir_config_counterpart(live(draft), svc, s);

		if (!was || was->nr_backends != svc->nr_backends)
			return false;
	}
	return draft->only_results;
}

static struct weir_config *to_config(struct weir_draft *draft,
				     struct netlink_ext_ack *extack)
{
	struct weir_config *cfg = kvzalloc(sizeof(*cfg), GFP_KERNEL_ACCOUNT);
	struct weir_match clash[2];
	int err;

	if (!cfg)
		return ERR_PTR(-ENOMEM);
	cfg->edition = draft->edition + !draft->keep_edition;
	cfg->same_layout = keeps_layout(draft);
	cfg->key = draft->key;
	cfg->services = draft->services;
	cfg->nr_services = draft->nr;
	cfg->zones = draft->zones;
	draft->services = NULL;
	draft->nr = 0;
	draft->zones = NULL;
	err = weir_index_build(cfg, live(draft), clash);
	if (err == -EEXIST)
		refuse_clash(clash, extack);
	if (err) {
		weir_config_free(cfg);
		return ERR_PTR(err);
	}
	return cfg;
}

/* Hooks come before the first rule that needs them is in force. */
static int enable_hooks(struct weir_net *wn, const struct weir_config *cfg,
			struct netlink_ext_ack *extack)
{
	int err = 0;
	u32 i;

	for (i = 0; i < cfg->nr_services && !err; i++) {
		const struct weir_service *svc = cfg->services[i];

		if (!svc->nr_rules)
			continue;
		err = svc->opt.forward == WEIR_FORWARD_DIRECT ?
		      weir_direct_enable(wn, svc->family) :
		      weir_hook_enable(wn, svc->family);
	}
	if (err)
		weir_refuse(extack, err,
			    "the kernel refused weir's netfilter hooks (error %d); nothing was changed",
			    -err);
	return err;
}

static int check_commit(const struct weir_draft *draft,
			struct netlink_ext_ack *extack)
{
	const struct weir_config *cfg = live(draft);

	if (draft->wn->closing || READ_ONCE(weir_unloading))
		return weir_refuse(extack, -ESHUTDOWN,
				   "the module is being unloaded");
	if (draft->edition == cfg->edition)
		return 0;
	return weir_refuse(extack, -ESTALE,
			   "transaction: began at generation %u, but the configuration is at %u now; begin again",
			   draft->base, cfg->generation);
}

int weir_draft_commit(struct weir_draft *draft, bool dry_run,
		      weir_change_fn fn, void *arg, struct weir_summary *sum,
		      struct netlink_ext_ack *extack)
{
	struct weir_net *wn = draft->wn;
	const struct weir_config *old = live(draft);
	struct weir_config *next, *unused;
	bool rekey = draft->rekey;
	int err;

	memset(sum, 0, sizeof(*sum));
	err = check_commit(draft, extack);
	if (!err)
		err = finish_zones(draft, extack);
	if (!err)
		err = finish_services(draft, extack);
	next = err ? ERR_PTR(err) : to_config(draft, extack);
	weir_draft_free(draft);
	if (IS_ERR(next))
		return PTR_ERR(next);

	sum->generation = old->generation;
	weir_config_compare(old, next, dry_run ? fn : NULL, arg, sum);
	if (dry_run || (!rekey && !sum->added && !sum->changed &&
			!sum->removed && !sum->zones)) {
		weir_config_free(next);
		return 0;
	}
	err = enable_hooks(wn, next, extack);
	if (err) {
		weir_config_free(next);
		return err;
	}
	unused = weir_config_publish(wn, next);
	sum->generation = next->generation;
	weir_config_compare(unused, next, fn, arg, sum);
	weir_config_free(unused);
	return 0;
}

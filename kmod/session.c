// SPDX-License-Identifier: GPL-2.0
/*
 * session - which backend a tracking entry names, and whether it still may
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "binding.h"
#include "config.h"
#include "flows.h"
#include "netns.h"
#include "service.h"
#include "session.h"
#include "stats.h"
#include "stay.h"
#include "track.h"

int weir_session_init(struct weir_net *wn)
{
	struct weir_track *track;

	if (rcu_access_pointer(wn->track))
		return 0;
	track = weir_track_new(wn->max_sessions);
	if (!track)
		return -ENOMEM;
	rcu_assign_pointer(wn->track, track);
	return 0;
}

void weir_session_exit(struct weir_net *wn)
{
	weir_track_free(rcu_dereference_protected(wn->track, true));
	RCU_INIT_POINTER(wn->track, NULL);
}

int weir_session_resize(struct weir_net *wn, u32 max)
{
	struct weir_track *old, *new;
	int err = 0;

	mutex_lock(&wn->lock);
	old = rcu_dereference_protected(wn->track, lockdep_is_held(&wn->lock));
	if (old) {
		new = weir_track_new(max);
		if (!new) {
			err = -ENOMEM;
			goto out;
		}
		weir_track_copy(new, old, weir_seconds());
		rcu_assign_pointer(wn->track, new);
		synchronize_rcu();
		weir_track_free(old);
	}
	WRITE_ONCE(wn->max_sessions, max);
out:
	mutex_unlock(&wn->lock);
	return err;
}

unsigned int weir_session_fields(const struct weir_service *svc,
				 const struct weir_tuple *tuple)
{
	unsigned int fields = weir_track_fields(svc->opt.affinity,
						svc->opt.tracking, tuple);

	return fields == 5 && svc->opt.forward == WEIR_FORWARD_NAT ? 0 : fields;
}

const struct weir_backend *
weir_session_backend(const struct weir_service *svc,
		     const struct weir_session *session)
{
	u32 below = min_t(u32, session->hint, svc->nr_backends), above = below;

	/* Backends that came or went have moved it by as many places: go outwards. */
	while (above < svc->nr_backends || below > 0) {
		if (above < svc->nr_backends &&
		    svc->backends[above++].dest->id == session->dest)
			return &svc->backends[above - 1];
		if (below > 0 && svc->backends[--below].dest->id == session->dest)
			return &svc->backends[below];
	}
	return NULL;
}

bool weir_session_find(struct weir_net *wn, const struct weir_service *svc,
		       const struct weir_tuple *tuple, unsigned int fields,
		       struct weir_track_ref *ref, struct weir_session *session,
		       u32 *at)
{
	struct weir_track *track = rcu_dereference(wn->track);

	if (!track)
		return false;
	weir_track_refer(track, tuple, svc->owner->id, fields, ref);
	return weir_track_find(track, ref, svc->opt.idle_timeout, weir_seconds(),
			       session, at);
}

void weir_session_touch(struct weir_net *wn, const struct weir_service *svc,
			u32 at, const struct weir_backend *be, bool confirm)
{
	struct weir_track *track = rcu_dereference(wn->track);

	/* The table may have been replaced by a smaller one meanwhile. */
	if (track && at < weir_track_size(track))
		weir_track_touch(track, at, be - svc->backends,
				 svc->opt.idle_timeout, weir_seconds(),
				 confirm);
}

void weir_session_end(struct weir_net *wn, u32 at,
		      const struct weir_session *session)
{
	struct weir_track *track = rcu_dereference(wn->track);

	if (track && at < weir_track_size(track))
		weir_track_drop(track, at, &session->key);
}

bool weir_session_usable(const struct weir_config *cfg,
			 const struct weir_backend *be,
			 const struct weir_tuple *tuple)
{
	const struct weir_binding *binding =
		be->dest->bindings[weir_class(tuple->proto)];

	if (likely(!READ_ONCE(binding->state)))
		return true;
	return weir_stay_with(cfg, binding, tuple->family, &tuple->src) ==
	       WEIR_STAY_YES;
}

void weir_session_record(struct weir_net *wn, const struct weir_service *svc,
			 const struct weir_track_ref *ref,
			 const struct weir_backend *be, const __be32 *isn)
{
	struct weir_track *track = rcu_dereference(wn->track);
	struct weir_session session = {
		.key = ref->key,
		.dest = be->dest->id,
		.hint = be - svc->backends,
		.idle = svc->opt.idle_timeout,
		.used = weir_seconds(),
		.opening = !!isn,
		.isn = isn ? *isn : 0,
	};

	if (!track)
		return;
	if (weir_track_put(track, &session, ref->hash, session.used))
		weir_count(wn, WEIR_R_SESSION_EVICTED);
}

/* Its deadline is over, and nobody has taken it out yet. */
static bool has_drained(const struct weir_backend *be)
{
	const struct weir_binding *binding = be->dest->bindings[WEIR_CLASS_OTHER];

	return weir_binding_has_drained(binding, smp_load_acquire(&binding->state));
}

bool weir_session_view(const struct weir_config *cfg,
		       const struct weir_session *session,
		       struct weir_session_view *view)
{
	const struct weir_service *svc =
		weir_index_owner(&cfg->index, session->key.owner);
	const struct weir_backend *be =
		svc ? weir_session_backend(svc, session) : NULL;
	/* The copy may be from the next second. */
	u32 unused = max_t(s32, weir_seconds() - session->used, 0);

	if (!be || has_drained(be))
		return false;
	view->service = svc->name;
	view->family = session->key.family;
	view->fields = session->key.fields;
	view->proto = session->key.proto;
	view->sport = session->key.sport;
	view->dport = session->key.dport;
	view->src = session->key.src;
	view->dst = session->key.dst;
	view->backend = be->addr;
	view->expires = svc->opt.idle_timeout > unused ?
			svc->opt.idle_timeout - unused : 0;
	view->confirmed = session->confirmed;
	return true;
}

/* The table cannot be replaced while a walk holds the RCU read lock, but a walk over
 * all of it would hold that too long: it goes piece by piece.
 */
#define PIECE	4096

struct walk {
	struct weir_net *wn;
	const struct weir_flow_filter *filter;
	int (*fn)(const struct weir_session_view *view, void *arg);
	void *arg;
	bool flush;
	u32 nr;
};

static bool matches(const struct weir_flow_filter *filter,
		    const struct weir_session_view *view)
{
	if (filter->service && strcmp(filter->service, view->service))
		return false;
	return !filter->has_backend ||
	       (filter->family == view->family &&
		!weir_addr_cmp(&filter->backend, &view->backend));
}

static int visit(struct weir_session *session, void *arg)
{
	struct walk *walk = arg;
	struct weir_session_view view;

	/* One that leads nowhere would take room from others until it is too old. */
	if (!weir_session_view(rcu_dereference(walk->wn->config), session,
			       &view)) {
		session->dest = 0;
		return 0;
	}
	if (!matches(walk->filter, &view))
		return 0;
	walk->nr++;
	if (walk->flush)
		session->dest = 0;
	return walk->fn ? walk->fn(&view, walk->arg) : 0;
}

static int walk_sessions(struct walk *walk, u32 *at)
{
	struct weir_track *track;
	bool more = true;
	int err = 0;

	while (!err && more) {
		rcu_read_lock();
		track = rcu_dereference(walk->wn->track);
		more = track && *at < weir_track_size(track);
		if (more)
			err = weir_track_each(track, at, PIECE, weir_seconds(),
					      visit, walk);
		rcu_read_unlock();
		cond_resched();
	}
	return err;
}

int weir_session_dump(struct weir_net *wn, const struct weir_flow_filter *filter,
		      u32 *at,
		      int (*fn)(const struct weir_session_view *view, void *arg),
		      void *arg)
{
	struct walk walk = {
		.wn = wn,
		.filter = filter,
		.fn = fn,
		.arg = arg,
	};

	return walk_sessions(&walk, at);
}

u32 weir_session_flush(struct weir_net *wn,
		       const struct weir_flow_filter *filter)
{
	struct walk walk = {
		.wn = wn,
		.filter = filter,
		.flush = true,
	};
	u32 at = 0;

	walk_sessions(&walk, &at);
	return walk.nr;
}

static u32 walk_all(struct weir_net *wn)
{
	const struct weir_flow_filter all = {};
	struct walk walk = {
		.wn = wn,
		.filter = &all,
	};
	u32 at = 0;

	walk_sessions(&walk, &at);
	return walk.nr;
}

u32 weir_session_count(struct weir_net *wn, bool exact)
{
	if (!exact && time_before(jiffies, wn->sessions_counted + HZ))
		return wn->nr_sessions;
	wn->nr_sessions = walk_all(wn);
	wn->sessions_counted = jiffies;
	return wn->nr_sessions;
}

void weir_session_sweep(struct weir_net *wn)
{
	walk_all(wn);
}

// SPDX-License-Identifier: GPL-2.0
/* Messages that are not of our family: acknowledgements and the controller's
 * answer to "which number has the family weir?". */
#include <stdio.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "decode.h"

/* Where the attributes of an NLMSG_ERROR begin: behind the header of the
 * message that failed, or behind all of it if the kernel sent it back. */
static size_t attrs_offset(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	size_t offset = sizeof(*e);

	if (nlh->nlmsg_type == NLMSG_DONE)
		return MNL_ALIGN(sizeof(int));
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED) &&
	    e->msg.nlmsg_len > sizeof(e->msg))
		offset += MNL_ALIGN((size_t)e->msg.nlmsg_len - sizeof(e->msg));
	return offset;
}

static void trim(char *text)
{
	size_t n = strlen(text);

	while (n && (text[n - 1] == ' ' || text[n - 1] == '\n'))
		text[--n] = '\0';
}

static void read_sentence(const struct nlmsghdr *nlh, char *text, size_t size)
{
	size_t offset = attrs_offset(nlh);
	size_t len = mnl_nlmsg_get_payload_len(nlh);
	const struct nlattr *attr;
	const void *from;

	if (offset > len)
		return;
	from = mnl_nlmsg_get_payload_offset(nlh, offset);
	mnl_attr_for_each_payload(from, len - offset) {
		if (mnl_attr_get_type(attr) != NLMSGERR_ATTR_MSG ||
		    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0)
			continue;
		snprintf(text, size, "%s", mnl_attr_get_str(attr));
		trim(text);
	}
}

int weir_decode_error(const struct nlmsghdr *nlh, int *num, char *text,
		      size_t size)
{
	size_t need = nlh->nlmsg_type == NLMSG_DONE ? sizeof(int) :
						      sizeof(struct nlmsgerr);
	size_t len = mnl_nlmsg_get_payload_len(nlh);
	int error;

	text[0] = '\0';
	*num = 0;
	/* A DONE may be bare; then it is a good end. */
	if (len < need)
		return nlh->nlmsg_type == NLMSG_DONE ? 0 : -1;
	memcpy(&error, mnl_nlmsg_get_payload(nlh), sizeof(error));
	if (error > 0 || error < -4095)
		return -1;
	*num = -error;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		read_sentence(nlh, text, size);
	return 0;
}

/* One entry of CTRL_ATTR_MCAST_GROUPS. */
static void read_group(const struct nlattr *entry, const char *name,
		       uint32_t *group)
{
	const char *found = NULL;
	uint32_t id = 0;
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, entry) {
		switch (mnl_attr_get_type(attr)) {
		case CTRL_ATTR_MCAST_GRP_NAME:
			if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
				found = mnl_attr_get_str(attr);
			break;
		case CTRL_ATTR_MCAST_GRP_ID:
			if (mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
				id = mnl_attr_get_u32(attr);
			break;
		}
	}
	if (found && !strcmp(found, name))
		*group = id;
}

int weir_decode_family(const struct nlmsghdr *nlh, uint16_t *family,
		       const char *group_name, uint32_t *group)
{
	const struct nlattr *attr, *entry;

	*family = 0;
	*group = 0;
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct genlmsghdr))
		return -1;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case CTRL_ATTR_FAMILY_ID:
			if (mnl_attr_validate(attr, MNL_TYPE_U16) >= 0)
				*family = mnl_attr_get_u16(attr);
			break;
		case CTRL_ATTR_MCAST_GROUPS:
			mnl_attr_for_each_nested(entry, attr)
				read_group(entry, group_name, group);
			break;
		}
	}
	return *family ? 0 : -1;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the fake kernel know of each other; see fake_kernel.c. */
#ifndef FAKE_H
#define FAKE_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "model.h"

#define FAKE_FAMILY	0x1d
#define FAKE_GROUP	7
#define FAKE_PORTID	4711

/* fake_kernel.c: what it is told to do, and the environment */
void fake_take(const struct nlmsghdr *nlh);
void fake_load(struct weir_config *config);
noreturn void fake_die(const char *why);
long fake_number(const char *name);

/* Records with commas between, of words with blanks between. */
#define FAKE_WORDS	8
#define FAKE_WORD	64
typedef char fake_words[FAKE_WORDS][FAKE_WORD];
/* Record number AT; false if there is none. */
bool fake_record(const char *name, unsigned int at, fake_words words);
/* The record that begins with FIRST. */
bool fake_find(const char *name, const char *first, fake_words words);

/* fake_socket.c: what waits to be read */
void fake_push(const void *bytes, size_t len);
struct nlmsghdr *fake_last(void);

/* fake_answer.c: messages */
struct nlmsghdr *fake_answer(const struct nlmsghdr *to, uint8_t cmd);
void fake_send(struct nlmsghdr *nlh);
/* NLMSG_ERROR or NLMSG_DONE */
void fake_finish(const struct nlmsghdr *to, uint16_t type, int err,
		 const char *sentence);
const char *fake_string(const struct nlmsghdr *nlh, uint16_t type);
bool fake_has(const struct nlmsghdr *nlh, uint16_t type);
void fake_dump(const struct nlmsghdr *to, uint8_t cmd);
void fake_lookup(const struct nlmsghdr *to);
void fake_info(const struct nlmsghdr *to);
void fake_family(const struct nlmsghdr *to);

/* fake_change.c: differences, and the events about them */
void fake_commit(const struct nlmsghdr *to, struct weir_config *staged);
void fake_events(void);

#endif

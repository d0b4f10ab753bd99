# SPDX-License-Identifier: GPL-2.0

define HELP
make                the module and the tools, for this machine's kernel
make install        into $$(DESTDIR), the tools below $$(PREFIX), /usr/local
make demo           see it work, in a virtual machine; installs what it needs
make check          every test, in virtual machines; installs what it needs
make check-kernels  the guest tests on three kernels: this release's, the one of its
                    backports and the one of Debian unstable
make check-debug    the guest tests on kernels with KASAN, lockdep and kmemleak, which
                    are built first (half an hour on two CPUs, once)
make bench          what packets cost, beside nftables and IPVS, in virtual machines;
                    with QUICK=1 a part of it; installs what it needs
make sparse         static checks of the module
make clean

KDIR=DIR            build for another kernel; this one's is $(KDIR)
KERNEL=NAME         demo, check and bench: a name in selftests/vm/kernels (stock)
TESTS="NAME ..."    check: only these, such as unit, build or affinity.sh; healthd is a host
                    suite and a guest test, healthd.sh the latter alone
W=1                 more warnings
endef

# Without headers for the running kernel, those of the newest one will do: that
# is what the virtual machines run.
NEWEST := $(shell printf '%s\n' /lib/modules/*/build/Makefile | sort -V | tail -n 1)
RUNNING := $(wildcard /lib/modules/$(shell uname -r)/build/Makefile)
KDIR ?= $(patsubst %/Makefile,%,$(or $(RUNNING),$(wildcard $(NEWEST))))
RELEASE ?= $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
KERNEL ?= stock
PREFIX ?= /usr/local
TESTS ?=

# Kernels don't share object files, and a build may run while a guest looks at
# another one's: each has a directory of links to the sources.
BUILD = $(CURDIR)/build/$(RELEASE)
KBUILD = $(MAKE) -C $(KDIR) M=$(BUILD) CONFIG_DEBUG_INFO_BTF_MODULES=

.PHONY: all module tools install demo check check-kernels check-debug bench sparse clean help check-config links
all: module tools

module: links
	+$(KBUILD) modules

check-config:
	@kmod/check-config '$(KDIR)'

links: check-config
	@[ -n '$(RELEASE)' ] || { echo "weir: RELEASE= has to name the kernel of KDIR=$(KDIR)" >&2; exit 1; }
	@mkdir -p $(BUILD)/kmod
	@ln -sfn ../../Kbuild $(BUILD)/Kbuild
	@ln -sfn ../../uapi $(BUILD)/uapi
	@find $(BUILD)/kmod -xtype l -delete
	@cd $(BUILD)/kmod && for file in ../../../kmod/*.[ch] ../../../kmod/compat; do \
		[ -e "$${file##*/}" ] || ln -s "$$file" .; done

tools:
	+@for dir in $(patsubst %/Makefile,%,$(wildcard tools/*/Makefile)); do \
		$(MAKE) -C $$dir || exit; done

install: all
	install -D -m 644 $(BUILD)/weir.ko $(DESTDIR)/lib/modules/$(RELEASE)/updates/weir.ko
	strip --strip-debug $(DESTDIR)/lib/modules/$(RELEASE)/updates/weir.ko
	[ -n "$(DESTDIR)" ] || depmod $(RELEASE)
	+@for dir in $(patsubst %/Makefile,%,$(wildcard tools/*/Makefile)); do \
		$(MAKE) -C $$dir install DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' || exit; done

# Sparse reports to standard error and lets the build go on; here a report is a
# failure. What it says of the kernel's own headers is not ours to mend.
sparse: links
	@$(KBUILD) C=2 CF=-D__CHECK_ENDIAN__ W=1 modules >$(BUILD)/sparse.log 2>&1 || \
		{ cat $(BUILD)/sparse.log; exit 1; }
	@! grep -E '(kmod|uapi)/.*(warning|error):' $(BUILD)/sparse.log

# The kernel that is to be booted decides for which headers to build, and neither
# need be here before the packages are.
demo:
	@selftests/deps --demo
	+@selftests/build -k '$(KERNEL)'
	@selftests/vm/run -k '$(KERNEL)' selftests/demo/demo.sh

check:
	@selftests/deps
	+@selftests/check/run -k '$(KERNEL)' $(TESTS)

check-kernels:
	@selftests/deps mmdebstrap
	+@selftests/check/kernels $(TESTS)

check-debug:
	@selftests/deps flex bison libelf-dev
	+@selftests/check/debug $(TESTS)

bench:
	@selftests/deps
	+@selftests/build -k '$(KERNEL)'
	@QUICK='$(QUICK)' selftests/bench/run -k '$(KERNEL)'

clean:
	rm -rf build
	+@for dir in $(patsubst %/Makefile,%,$(wildcard tools/*/Makefile)); do \
		$(MAKE) -C $$dir clean || exit; done

help:
	$(info $(HELP))
	@:

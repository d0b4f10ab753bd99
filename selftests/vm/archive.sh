# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Look at and unpack packages of another suite of the distribution, with nothing
# installed and no change to this machine's apt. Sourced by kernel providers.
#
#   archive_open SUITE DIR      the package index of SUITE is kept below DIR
#   archive_update              fetch it, or keep the old one if that fails
#   archive_closure NAME...     the kernel packages that these need, one a line
#   archive_version NAME        its version
#   archive_unpack DIR NAME...  download them and unpack them below DIR
#
# Mirror and keyring are those of the machine's own sources.

archive_mirror=''
archive_keyring=/usr/share/keyrings/debian-archive-keyring.gpg
archive_options=()

# The first source that is not the one for security updates, in either format.
archive_find_mirror() {
	local file

	for file in /etc/apt/sources.list.d/*.sources; do
		[ -r "$file" ] || continue
		archive_mirror=$(awk '/^URIs:/ && $2 !~ /security/ { print $2; exit }' "$file")
		[ -z "$archive_mirror" ] || return 0
	done
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -r "$file" ] || continue
		archive_mirror=$(sed -n 's/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' "$file" |
			grep -v security | head -n 1)
		[ -z "$archive_mirror" ] || return 0
	done
	echo "archive: no Debian mirror in the sources of this machine's apt" >&2
	return 1
}

archive_open() {
	local suite=$1 dir=$2

	archive_find_mirror || return
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	echo "deb [signed-by=$archive_keyring] $archive_mirror $suite main" >"$dir/sources.list"
	# A mirror's copy of a suite can be older than its release file allows;
	# signatures are checked all the same.
	archive_options=(
		-o Dir::State::Lists="$dir/lists" -o Dir::State::status=/dev/null
		-o Dir::Cache="$dir/cache" -o Dir::Etc::SourceList="$dir/sources.list"
		-o Dir::Etc::SourceParts=/dev/null -o APT::Sandbox::User=root
		-o Acquire::Languages=none -o Acquire::Check-Valid-Until=false
		-o APT::Default-Release=
	)
}

archive_update() {
	apt-get -qq "${archive_options[@]}" update >&2
}

archive_closure() {
	apt-cache "${archive_options[@]}" depends --recurse --important "$@" |
		grep -E '^linux-' | sort -u
}

archive_version() {
	apt-cache "${archive_options[@]}" show --no-all-versions "$1" | sed -n 's/^Version: //p'
}

archive_unpack() {
	local dir=$1 deb; shift

	mkdir -p "$dir/debs"
	(
		cd "$dir/debs" || exit
		apt-get -qq "${archive_options[@]}" download "$@" >&2 || exit
		for deb in *.deb; do
			dpkg-deb -x "$deb" "$dir" || exit
		done
	) || return
	rm -rf "$dir/debs"
}

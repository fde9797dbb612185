#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the README says to install before one builds is what ./demo installs.
source "$(dirname "$0")/lint.sh"
source .ci/packages

said=$(sed -n '/^    sudo apt-get install /,/[^\\]$/p' README.md | sed -e 's/^ *sudo apt-get install//' -e 's/\\$//' | xargs)
needed=$(xargs <<<"$packages_to_build")
[ "$said" = "$needed" ] || complain "README.md: \"$said\", but .ci/packages: \"$needed\""

finish

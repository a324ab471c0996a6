#!/bin/sh
# Installs bubblewrap, in which coding agents are kept away from everything else on the machine (Debian, Ubuntu; needs root).
# Without it the server says that there is no sandbox, and the tests check that it does.
set -eu
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends bubblewrap

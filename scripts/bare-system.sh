#!/bin/sh
# Makes a bare system of Debian in a folder (its smallest set of packages, git, and this machine's Node and npm), puts a
# fresh clone of this checkout's last commit there, and runs a command in it with CI=true: as root, or with --user as an
# ordinary user. There is no Dovecot, no bubblewrap, no Python, no curl and no ps unless the command brings them.
#
#   scripts/bare-system.sh [--user] FOLDER [COMMAND ...]       the command is `npm test` when none is given
#
# Needs root, debootstrap and the network. The system is made once, about 350 MB, and each run begins with a new clone;
# what a run installs stays, so remove the folder to begin with a bare system again. RELEASE=bookworm chooses another.
set -eu

as_user=no
if [ "${1:-}" = --user ]; then
  as_user=yes
  shift
fi
[ $# -gt 0 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- npm test
checkout=$(cd "$(dirname "$0")/.." && pwd)
# The machine's own Node, not the one among the packages of a checkout.
PATH=$(printf %s "$PATH" | tr : '\n' | grep -v 'node_modules/\.bin$' | paste -sd :)

if [ ! -e "$folder/.is-made" ]; then
  echo "Making a bare ${RELEASE:=bookworm} in $folder, about four minutes ..." >&2
  debootstrap --variant=minbase --include=ca-certificates,git "$RELEASE" "$folder" > "$folder.log" || { tail "$folder.log" >&2; exit 1; }
  cp "$(readlink -f "$(command -v node)")" "$folder/usr/bin/node"
  mkdir -p "$folder/usr/lib/node_modules"
  cp -R "$(npm root --global)/npm" "$folder/usr/lib/node_modules/npm"
  for program in npm npx; do
    ln -s "../lib/node_modules/npm/bin/$program-cli.js" "$folder/usr/bin/$program"
  done
  chroot "$folder" useradd --create-home tester
  touch "$folder/.is-made"
fi

# How this machine reaches the network.
cp -L /etc/resolv.conf /etc/hosts "$folder/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
settings=$(npm config get globalconfig)
if [ -e "$settings" ]; then
  mkdir -p "$folder$(dirname "$settings")"
  cp "$settings" "$folder$settings"
fi

home=/root
[ $as_user = no ] || home=/home/tester
rm -rf "$folder$home/parley"
git -c safe.directory='*' clone --quiet "$checkout" "$folder$home/parley"
[ $as_user = no ] || chroot "$folder" chown -R tester: "$home/parley"

# A root of its own in a mount namespace rather than chroot, in which no sandbox could be made.
exec unshare --mount --pid --fork --kill-child sh -eu -c '
  folder=$1 home=$2 as_user=$3
  shift 3
  mount --bind "$folder" "$folder"
  mount --rbind /dev "$folder/dev"
  mount --rbind /sys "$folder/sys"
  mount -t proc proc "$folder/proc"
  cd "$folder"
  mkdir -p .outside
  pivot_root . .outside
  umount -l /.outside
  cd "$home/parley"
  become=
  [ "$as_user" = no ] || become="setpriv --reuid=tester --regid=tester --init-groups"
  # The first process of a system takes in the ended ones that nobody else waits for, which a program would leave.
  env -i HOME="$home" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CI=true \
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt $become "$@" &
  wait $!
' sh "$folder" "$home" "$as_user" "$@"

#!/bin/sh
# Runs a program in user-mode Linux, with the files of this host, as root, and with control groups of version 2 that it
# may delegate. Usage: in_uml.sh LINUX PROGRAM [ARGUMENT...]
set -eu
if [ "${CARILLON_IN_UML:-}" = "" ]; then
  linux=$1
  shift
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  {
    echo '#!/bin/sh'
    echo "export CARILLON_IN_UML=1 PATH=$PATH HOME=/root"
    printf 'exec %s %s' "$(realpath "$0")" "$scratch/status"
    printf " '%s'" "$@"
    echo
  } > "$scratch/init"
  chmod 700 "$scratch/init"
  "$linux" mem=512M rootfstype=hostfs rootflags=/ rw quiet con=null con0=fd:0,fd:1 init="$scratch/init" < /dev/null
  exit "$(cat "$scratch/status")"
fi
status_file=$1
shift
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /mnt
export TMPDIR=/mnt
mount -t cgroup2 cgroup /sys/fs/cgroup
echo '+memory +cpu +pids' > /sys/fs/cgroup/cgroup.subtree_control
status=0
"$@" || status=$?
echo "$status" > "$status_file"
echo o > /proc/sysrq-trigger
sleep 60

#!/bin/sh
# Runs a program in user-mode Linux, with the files of this host, as root, and with control groups of version 2 that it
# may delegate. Usage: in_uml.sh LINUX LIBRARY PROGRAM [ARGUMENT...]; LIBRARY is built from whole_fpu_state.cc.
# Exit code: that of the program; 77 if user-mode Linux does not boot on this machine, with the reason on stderr.
set -eu
if [ "${CARILLON_IN_UML:-}" = "" ]; then
  linux=$1
  library=$2
  shift 2
  command -v "$linux" > /dev/null || { echo "in_uml: no $linux; Debian's package user-mode-linux has it" >&2; exit 1; }
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  {
    echo '#!/bin/sh'
    echo "export CARILLON_IN_UML=1 PATH=$PATH HOME=/root"
    printf 'exec %s %s' "$(realpath "$0")" "$scratch"
    printf " '%s'" "$@"
    echo
  } > "$scratch/init"
  chmod 700 "$scratch/init"
  # Its memory is a file. In containers, /dev/shm is often too small for it.
  memory=/dev/shm
  [ "$(df --output=avail -k $memory 2> /dev/null | tail -n 1)" -gt 600000 ] 2> /dev/null || memory=$scratch
  LD_PRELOAD=$library TMPDIR=$memory "$linux" mem=512M rootfstype=hostfs rootflags=/ rw quiet con=null con0=fd:0,fd:1 \
    init="$scratch/init" < /dev/null || true
  [ -f "$scratch/booted" ] || { echo "in_uml: NOT RUN: user-mode Linux does not boot on this machine, see above" >&2; exit 77; }
  exit "$(cat "$scratch/status" || echo 1)"
fi
scratch=$1
shift
touch "$scratch/booted"
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /mnt
export TMPDIR=/mnt
mount -t cgroup2 cgroup /sys/fs/cgroup
echo '+memory +cpu +pids' > /sys/fs/cgroup/cgroup.subtree_control
status=0
"$@" || status=$?
echo "$status" > "$scratch/status"
echo o > /proc/sysrq-trigger
sleep 60

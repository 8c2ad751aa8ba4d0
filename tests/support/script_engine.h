// A container engine that is a shell script, without a daemon. A container is a process of this
// host without any isolation; its command is the last word of `create`.
#pragma once

#include <sys/stat.h>

#include <string>

#include "tests/support/process_wait.h"

namespace carillon::test {

class ScriptEngine {
 public:
  ScriptEngine() {
    WriteFile(program(), kScript);
    chmod(program().c_str(), 0755);
    mkdir((folder_ / "containers").c_str(), 0700);
  }
  std::string program() const { return folder_ / "engine"; }
  // While a command is held it does nothing; the script of a command that fails exits with 1.
  void Hold(const std::string& verb) const { WriteFile(folder_ / ("hold-" + verb), "x"); }
  void Release(const std::string& verb) const { unlink((folder_ / ("hold-" + verb)).c_str()); }
  void Fail(const std::string& verb) const { WriteFile(folder_ / ("fail-" + verb), "x"); }
  void Work(const std::string& verb) const { unlink((folder_ / ("fail-" + verb)).c_str()); }
  // The command lines so far, one a line.
  std::string calls() const { return ReadFile(folder_ / "calls"); }
  int CallsOf(const std::string& verb) const {
    const std::string all = "\n" + calls();
    int count = 0;
    for (size_t at = 0; (at = all.find("\n" + verb + " ", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  // A container that runs until it is killed, of no attempt.
  void Add(const std::string& name, const std::string& warden_id) const {
    RunProgram({program(), "create", "--name", name, "--label", "carillon.warden=" + warden_id,
                "image", "sleep 1000"});
  }
  // From now on `start` leaves a process behind, as engines do. Returns its id, or 0.
  void LeaveProcesses() const { WriteFile(folder_ / "leave", "x"); }
  pid_t left_behind() const {
    const std::vector<pid_t> pids = ReadPids(folder_ / "left");
    return pids.empty() ? 0 : pids.back();
  }
  bool Has(const std::string& name) const {
    return !ReadFile(folder_ / ("containers/" + name + "/id")).empty();
  }
  std::string ReadOf(const std::string& name, const std::string& file) const {
    return ReadFile(folder_ / ("containers/" + name + "/" + file));
  }

 private:
  static constexpr char kScript[] = R"sh(#!/bin/bash
dir=${0%/*}; verb=$1; shift
echo "$verb $*" >>"$dir/calls"
while [ -e "$dir/hold-$verb" ]; do read -rt 0.02 <> <(:); done
[ -e "$dir/fail-$verb" ] && exit 1
of() {
  for one in "$dir"/containers/*/; do
    [ "$(cat "$one/id" 2>/dev/null)" = "$1" ] && echo "$one"
  done
}
alive() { [ -e "$1/pid" ] && kill -0 "$(cat "$1/pid")" 2>/dev/null; }
case $verb in
create)
  words=("$@"); env=/dev/null
  while [ $# -gt 1 ]; do
    case $1 in --name) name=$2 ;; --label) label=${2#*=} ;; --env-file) env=$2 ;; esac
    shift
  done
  one=$dir/containers/$name; mkdir "$one" || exit 125
  cat "$env" >"$one/env"; env >"$one/client"; echo "$label" >"$one/label"; echo "$1" >"$one/command"
  echo created >"$one/status"
  echo "$name" | sha256sum | cut -d' ' -f1 >"$one/id.new"
  mv "$one/id.new" "$one/id"; cat "$one/id" ;;
start)
  for id; do :; done
  one=$(of "$id"); echo running >"$one/status"
  [ -e "$dir/leave" ] && (setsid sleep 1000 >/dev/null 2>&1 & echo $! >>"$dir/left")
  setsid sh -c "echo \$\$ >'$one/pid'; exec sh -c \"\$(cat '$one/command')\"; " &
  wait $!; code=$?
  [ -d "$one" ] && { echo $code >"$one/code"; echo exited >"$one/status"; }
  exit $code ;;
inspect)
  for id; do :; done
  one=$(of "$id"); [ -n "$one" ] || exit 1
  case $* in *HostConfig*) cat "$dir/limits" ;;
  *) status=$(cat "$one/status"); [ "$status" = running ] && ! alive "$one" && status=exited
     echo "$status $(cat "$one/code" 2>/dev/null || echo 137) false" ;; esac ;;
ps)
  for one in "$dir"/containers/*/; do
    [ -e "$one/id" ] || continue
    case "$*" in
    *"carillon.warden=$(cat "$one/label")"*) one=${one%/}; echo "$(cat "$one/id") ${one##*/}" ;;
    esac
  done ;;
kill|rm|stop)
  for id; do
    one=$(of "$id"); [ -n "$one" ] || continue
    sig=KILL; [ $verb = stop ] && sig=TERM
    alive "$one" && kill -$sig -- "-$(cat "$one/pid")"
    [ $verb = rm ] && { rm -r "$one"; }
  done ;;
esac
exit 0
)sh";

  ScratchDirectory folder_;
};

}  // namespace carillon::test

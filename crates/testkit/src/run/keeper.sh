# The keeper of one test process. It waits until that process is gone (its standard input then ends), whatever
# the way it went, ends every process that carries the run's mark in its environment, removes the run's control
# groups and its folder. A run with a failed test keeps its logs.
#   $1: the run's folder; its last part is also the name of the run's control groups
run=$1
trap '' HUP INT TERM
cat >/dev/null

name=${run##*/}
marked() { grep -lzxF "MIZZEN_RUN=$run" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }

# Those in process namespaces of their own first, and their parents, which are outside, not before they have collected
# them: a namespace stays as long as a dead process in it was not collected, and not every machine's first process
# is quick at collecting orphans.
own=$(stat -Lc %i /proc/self/ns/pid)
inner() {
  stat -Lc '%i %n' $(marked | sed 's#.*#/proc/&/ns/pid#') /proc/self/ns/pid 2>/dev/null |
    while read -r space path; do [ "$space" = "$own" ] || { path=${path#/proc/}; echo "${path%%/*}"; }; done
}
parents='' round=0
while pids=$(inner) && [ -n "$pids" ] && [ $round -lt 20 ]; do
  [ -n "$parents" ] || parents=$(sed 's/.*) . \([0-9]*\) .*/\1/' $(echo "$pids" | sed 's#.*#/proc/&/stat#') 2>/dev/null)
  kill -KILL $pids 2>/dev/null
  round=$((round + 1)); sleep 0.03
done
round=0
while [ -n "$parents" ] && marked | grep -qxF "$parents" && [ $round -lt 30 ]; do
  round=$((round + 1)); sleep 0.03
done

# A process may be between fork and exec, when it does not carry the mark yet: look until twice nothing was found.
quiet=0 round=0
while [ $quiet -lt 2 ] && [ $round -lt 100 ]; do
  pids=$(marked)
  if [ -n "$pids" ]; then quiet=0; kill -KILL $pids 2>/dev/null; else quiet=$((quiet + 1)); fi
  round=$((round + 1)); sleep 0.03
done

round=0
while [ $round -lt 50 ]; do
  groups=$(find /sys/fs/cgroup -mindepth 1 -maxdepth 3 -type d -name "$name" 2>/dev/null)
  [ -n "$groups" ] || break
  find $groups -depth -type d -exec rmdir {} + 2>/dev/null
  round=$((round + 1)); sleep 0.05
done

if [ -e "$run/keep-all" ]; then exit; fi
if [ -e "$run/failed" ]; then
  find "$run" -mindepth 1 -maxdepth 1 ! -name logs -exec rm -rf --one-file-system {} + 2>/dev/null
else
  rm -rf --one-file-system "$run" 2>/dev/null
fi
